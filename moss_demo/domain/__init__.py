"""The pure core: values that flow, the parser, diagnostics and exports. No torch, files or clock."""
