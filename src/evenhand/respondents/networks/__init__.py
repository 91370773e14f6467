"""Networks: what runs a model (onnxruntime, torch, numpy), its tokens and its batches."""
