"""The bodies of the commands; each module is imported only when its command runs."""
