"""The command line of the site."""

import os
import sys

from django.core.management import execute_from_command_line

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "site_with_sign_in.settings")
execute_from_command_line(sys.argv)
