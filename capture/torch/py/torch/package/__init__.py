"""Packages of code and models."""
from torch._absent import declare

declare("EmptyMatchError", "Importer", "OrderedImporter", "PackageExporter", "PackageImporter", "PackagingError", "sys_importer")
