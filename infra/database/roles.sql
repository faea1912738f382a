-- Who may do what in the database. Run by an administrator of the server, before every migration; safe to
-- repeat. infra/deploy.sh runs it; by hand:
--   sqlcmd -G -S SERVER.database.windows.net -d DATABASE -b -i infra/database/roles.sql
--     -v AppIdentity="id-extractor-…" -v MigrationIdentity="id-migration-extractor-…"
--
-- | role               | may                                                     | and nothing else |
-- | extractor_app      | read and write [extractor], read four tables of others  | no DDL           |
-- | extractor_migrator | own [extractor]: make and change its tables             | no data of others |
--
-- FROM EXTERNAL PROVIDER looks the identity up in Entra ID: as the person who runs this, or, in a pipeline,
-- as the identity of the server, which then needs the role Directory Readers. Users that are there are
-- not looked up again, so it is enough that a person has run this once.

IF USER_ID(N'$(AppIdentity)') IS NULL
    CREATE USER [$(AppIdentity)] FROM EXTERNAL PROVIDER;
IF USER_ID(N'$(MigrationIdentity)') IS NULL
    CREATE USER [$(MigrationIdentity)] FROM EXTERNAL PROVIDER;
GO

IF DATABASE_PRINCIPAL_ID(N'extractor_app') IS NULL
    CREATE ROLE extractor_app AUTHORIZATION dbo;
IF DATABASE_PRINCIPAL_ID(N'extractor_migrator') IS NULL
    CREATE ROLE extractor_migrator AUTHORIZATION dbo;
GO

ALTER ROLE extractor_app ADD MEMBER [$(AppIdentity)];
ALTER ROLE extractor_migrator ADD MEMBER [$(MigrationIdentity)];
GO

-- The owner of the schema may do everything in it, and what is made in it is the owner's.
IF SCHEMA_ID(N'extractor') IS NULL
    EXEC (N'CREATE SCHEMA extractor AUTHORIZATION extractor_migrator');
GO
IF EXISTS (
    SELECT 1 FROM sys.schemas
    WHERE name = N'extractor' AND principal_id <> DATABASE_PRINCIPAL_ID(N'extractor_migrator')
)
    ALTER AUTHORIZATION ON SCHEMA::extractor TO extractor_migrator;
GO
GRANT CREATE TABLE TO extractor_migrator;
-- Its foreign keys point there.
GRANT REFERENCES ON OBJECT::[file].[File] TO extractor_migrator;
GRANT REFERENCES ON OBJECT::[registration].[ClientApplicationExtractor] TO extractor_migrator;
GO

GRANT SELECT, INSERT, UPDATE, DELETE ON SCHEMA::extractor TO extractor_app;
GRANT SELECT ON OBJECT::[file].[File] TO extractor_app;
GRANT SELECT ON OBJECT::[registration].[ClientApplicationExtractor] TO extractor_app;
GRANT SELECT ON OBJECT::dbo.Documents TO extractor_app;
GRANT SELECT ON OBJECT::dbo.ExtractedEntities TO extractor_app;
GO
