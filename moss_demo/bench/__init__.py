"""Measures the engine by using it: plans, raw values, statistics derived from them, reports."""
