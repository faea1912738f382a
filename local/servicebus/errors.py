"""What the broker refuses, each with the AMQP condition and status that clients know it by."""


class BrokerError(Exception):
    """A request that cannot be done. `status` is the answer of a management request."""

    condition = "amqp:internal-error"
    status = 500


class NotFound(BrokerError):
    condition = "amqp:not-found"
    status = 404


class NotAllowed(BrokerError):
    condition = "amqp:not-allowed"
    status = 400


class NotImplementedHere(BrokerError):
    condition = "amqp:not-implemented"
    status = 501


class InvalidRequest(BrokerError):
    condition = "com.microsoft:argument-error"
    status = 400


class BadMessage(BrokerError):
    condition = "amqp:decode-error"
    status = 400


class MessageTooLarge(BrokerError):
    condition = "amqp:link:message-size-exceeded"
    status = 403


class LockLost(BrokerError):
    condition = "com.microsoft:message-lock-lost"
    status = 410


class MessageNotFound(BrokerError):
    condition = "com.microsoft:message-not-found"
    status = 404
