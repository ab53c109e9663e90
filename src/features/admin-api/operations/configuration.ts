/** The configuration in force (administration A-26). */
import { z } from 'zod';
import { describedSections, effectiveSettings } from '#config/reference/effective.ts';
import { sharedSettingsDigest } from '#config/shared-settings.ts';
import { json } from '#platform/http/response.ts';
import { listLiveProcesses } from '#platform/jobs/registered-processes.ts';
import { time } from '../definition/documents.ts';
import type { Operation } from '../definition/operation.ts';

const setting = z
  .object({
    key: z.string().describe('Key, for example `http.listeners[0].name`; `K_file` if a file contains the secret `K`.'),
    name: z.string().describe('Name in `sections`, for example `http.listeners[].name`.'),
    value: z
      .unknown()
      .describe('Value as in a configuration file; `<redacted>`: a secret; null: neither set nor a default.'),
    source: z
      .object({
        kind: z
          .enum(['default', 'file', 'environment', 'flag', 'generated'])
          .describe('`flag`: of the command line. `generated`: created at the first start, in the data directory.'),
        name: z.string().nullable().describe('File as the operator named it, variable or flag.'),
        line: z.int().nullable().describe('Line in the file.'),
      })
      .describe('Where the value comes from.'),
    differs: z.boolean().describe('Whether the value is not the default.'),
    restart_required: z.boolean().describe('Whether the sources contain another value, which a restart applies.'),
  })
  .describe('A setting.');

const described = z
  .object({
    name: z.string().describe('Name of the setting.'),
    type: z.string().describe('Type of its value, in Markdown.'),
    default: z.string().describe('Default, in Markdown.'),
    meaning: z.string().describe('Description, in Markdown.'),
    secret: z.boolean().describe('Whether the value is never shown.'),
    applies_after: z.enum(['reload', 'restart']).describe('When a change takes effect.'),
  })
  .describe('What the manual says about a setting.');

const section = z
  .object({
    name: z.string().describe('Key of the section; empty: keys at the top level.'),
    description: z.string().nullable().describe('Description.'),
    documentation: z.string().describe('Page of the documentation, with the fragment of the section.'),
    keys: z.array(described).readonly().describe('Settings of the section.'),
  })
  .describe('A section of the configuration.');

const runningProcess = z
  .object({
    name: z.string().describe('Host name and process ID.'),
    version: z.string().describe('Version of the program.'),
    last_seen_at: z.iso.datetime().describe('Last sign of life; one is sent every 30 seconds.'),
    same_configuration: z
      .boolean()
      .describe('Whether the settings that must be identical everywhere are the same as in the responding process.'),
  })
  .describe('A process of the service.');

const configuration = z.object({
  data: z
    .object({
      process: z.string().describe('Name of the process that responded. Others may have read other sources.'),
      read_at: z.iso.datetime().describe('When it read the sources, at its start or at the last reload.'),
      files: z.array(z.string()).readonly().describe('Configuration files that it read, the strongest last.'),
      restart_required: z
        .array(z.string())
        .readonly()
        .describe('Keys that were changed since the start, and need a restart.'),
      processes: z.array(runningProcess).readonly().describe('All processes that use the database, at most 1,000.'),
      settings: z.array(setting).readonly().describe('All settings, in the order of the manual.'),
      sections: z.array(section).readonly().describe('Descriptions of all settings.'),
    })
    .describe('The configuration in force.'),
});

export const configurationOperations: readonly Operation[] = [
  {
    id: 'getEffectiveConfiguration',
    method: 'GET',
    path: 'effective-configuration',
    tag: 'server',
    summary: 'Gets the configuration in force',
    description:
      'Returns every setting with its value, its source and its description. Values of secrets are not shown, as in ' +
      '`latchkey config dump`. After a reload, the values are those that the process uses now.',
    answers: [{ status: 200, schema: configuration, description: 'The configuration of the responding process.' }],
    errors: [],
    run: async ({ core }) => {
      const { configuration: inForce, name } = core.process;
      const digest = sharedSettingsDigest(core.config, core.keyRing);
      const processes = await listLiveProcesses(core.database, core.clock.now());
      const data: z.input<typeof configuration>['data'] = {
        process: name,
        read_at: time(inForce.readAt),
        files: inForce.loaded.files,
        restart_required: inForce.restart,
        processes: processes.map((one) => ({
          name: one.name,
          version: one.version,
          last_seen_at: time(one.last_seen_at),
          same_configuration: one.config_digest.equals(digest),
        })),
        settings: effectiveSettings(inForce).map(({ needsRestart, source, value, ...shown }) => ({
          ...shown,
          value: value ?? null,
          source: { kind: source.kind, name: source.name ?? null, line: source.line ?? null },
          restart_required: needsRestart,
        })),
        sections: describedSections().map(({ keys, description, ...shown }) => ({
          ...shown,
          description: description ?? null,
          keys: keys.map(({ appliesAfter, defaultText, isSecret, ...key }) => ({
            ...key,
            default: defaultText,
            secret: isSecret,
            applies_after: appliesAfter,
          })),
        })),
      };
      return json(200, { data });
    },
  },
];
