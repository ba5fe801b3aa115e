# SPDX-License-Identifier: GPL-2.0
"""Lab machines: kernels, the module built for them, and commands run in them.

Command: cli.py, by run.py, which has a table of the kinds: uml.py, vm.py, icount.py. What these share is
lab.py (what is to run, where), memory.py, host.py (a running machine) and console.py; stdin.py and
terminal.py are what comes in. kernels.py, uml_kernel.py and module.py build, each once per version, under a
lock. own_kernel.py builds what the user's source tree has, by way of a copy (sourcetree.py). kbuild.py is
make for these. archive.py and debroot.py fetch what they need, venv.py has the Python of tests; kvm.py says
whether KVM can be used, needs.py which of Debian's packages are missing. guest/ is what runs inside.
identity.py says which kernel, configuration and sources a lab is made of. Not from disk or drive: a lab
knows nothing of fake disks. It needs the module's sources: installed, it is a package of its own.
"""
