import type { z } from 'zod';
import { cidr, integer, list, mapping } from '#platform/config/values.ts';

export const outboundSection = mapping({
  allowed_networks: list(cidr())
    .prefault([])
    .describe(
      'Networks that are reached although they are not public, for clients inside of an organization. Addresses in ' +
        'the section `clients` need no permission.',
    ),
  allowed_ports: list(integer(1, 65_535)).prefault([443, 8443]).describe('Ports of https that clients may name.'),
});

export function outboundConfig(parsed: z.output<typeof outboundSection>) {
  return { allowedNetworks: parsed.allowed_networks, allowedPorts: parsed.allowed_ports };
}
