"""Sandboxes in other libraries, one module each. Each needs its library: `pip install 'tollhouse[NAME]'`."""
