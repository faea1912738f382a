"""The local Azure Service Bus: an AMQP 1.0 broker that Microsoft's unmodified clients talk to."""
