"""Talks to Pangolin's Integration API: publishes, protects and unpublishes hosts.

`client.connect` returns the client. The layers, from the top:

- `plugin` serves `provider`, the provider of the engine; `resource` and `inputs` define, as values,
  the properties of a resource;
- `removing` deletes resources, and looks that they are gone;
- `client` creates, updates and deletes one resource in an order that is safe at every point;
- `steps` decides, as values, which requests an update takes and in which order;
- `reading` lists what the organisation has, and reads one resource with its targets and rules;
- `organisation` and `naming` find sites and domains, and recognise what is ours, as values;
- `openapi` and `answers` say what this Pangolin can do, and what its answers mean;
- `connection` sends the requests.
"""
