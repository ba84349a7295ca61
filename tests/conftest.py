from hypothesis import settings

# the same examples every time, and no example fails because the machine was busy
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=30, database=None)
settings.load_profile("fixed")
