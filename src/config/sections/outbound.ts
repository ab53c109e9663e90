import type { z } from 'zod';
import { cidr, integer, list, mapping } from '#platform/config/values.ts';

export const outboundSection = mapping({
  allowed_networks: list(cidr())
    .prefault([])
    .describe(
      'Non-public networks that the service may connect to, for clients inside an organization. URLs in ' +
        'the section `clients` are always allowed.',
    ),
  allowed_ports: list(integer(1, 65_535)).prefault([443, 8443]).describe('Allowed https ports in URLs of clients.'),
});

export function outboundConfig(parsed: z.output<typeof outboundSection>) {
  return { allowedNetworks: parsed.allowed_networks, allowedPorts: parsed.allowed_ports };
}
