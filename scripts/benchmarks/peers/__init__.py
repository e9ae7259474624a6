"""What users pick instead of msglog, each through its public interface. One module a library."""
