import { builder } from './builder.ts';
import type { ParsedUserAgent } from './parse-user-agent.ts';

const DeviceType = builder.enumType('DeviceType', { values: ['PC', 'MOBILE', 'TABLET', 'UNKNOWN'] as const });

export const UserAgent = builder.objectRef<ParsedUserAgent>('UserAgent').implement({
  description: 'Parsed User-Agent header.',
  fields: (t) => ({
    raw: t.exposeString('raw'),
    name: t.exposeString('name', { nullable: true }),
    version: t.exposeString('version', { nullable: true }),
    os: t.exposeString('os', { nullable: true }),
    osVersion: t.exposeString('osVersion', { nullable: true }),
    model: t.exposeString('model', { nullable: true }),
    deviceType: t.expose('deviceType', { type: DeviceType }),
  }),
});
