"""The pure core: values that flow, parser, diagnostics and exports. No torch, files or clock."""
