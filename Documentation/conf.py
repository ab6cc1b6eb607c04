# SPDX-License-Identifier: GPL-2.0-or-later
# For `make docs`, which copies this directory and what it generates.

project = "topoopt_fwd"
author = "the authors of topoopt_fwd"
copyright = author
extensions = ["myst_parser"]
exclude_patterns = ["netlink/specs", "networking", "schemas"]
myst_heading_anchors = 3
html_theme = "furo"  # light and dark, and nothing from the network
html_show_sphinx = False
html_copy_source = False
manpages_url = "https://manpages.debian.org/{path}"
