#!/usr/bin/env bash
# What the container needs beside its features: a C compiler, ODBC Driver 18, the Functions Core Tools.
set -euo pipefail

curl --fail --silent --show-error --location --output /tmp/microsoft.deb \
  https://packages.microsoft.com/config/debian/12/packages-microsoft-prod.deb
sudo dpkg --install /tmp/microsoft.deb
rm /tmp/microsoft.deb
sudo apt-get update --quiet
sudo ACCEPT_EULA=Y apt-get install --yes --quiet build-essential jq msodbcsql18 unixodbc-dev
npm install --global azure-functions-core-tools@4
