"""What deploys the service. The Python in here runs beside the scripts, never in the app."""
