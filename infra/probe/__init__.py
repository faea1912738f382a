"""The post-deployment probe: sends one file through a service and follows it to its job's end."""
