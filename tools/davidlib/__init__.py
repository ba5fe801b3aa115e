# SPDX-License-Identifier: GPL-2.0
"""What tools/david is made of: labs, kernels, devices."""
