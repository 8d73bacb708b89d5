"""The core of numpy: native classes and functions, and what is made of them."""
