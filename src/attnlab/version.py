"""The version of the course: its own module, as what reads it stands below the package's front."""

__version__ = "0.1.0"
