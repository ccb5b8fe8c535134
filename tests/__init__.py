"""Tests of the lessons, the package and the tools around them."""
