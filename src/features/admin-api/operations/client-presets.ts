/** Settings for well-known programs (administration A-11). They are part of the program, so no statement is sent. */
import { z } from 'zod';
import { CLIENT_PRESETS, findPreset } from '#domain/client-presets/presets.ts';
import { PRESET_CATEGORIES, type Preset } from '#domain/client-presets/programs/preset.ts';
import { json } from '#platform/http/response.ts';
import { checkNames } from '../definition/list-parameters.ts';
import { missing, type Operation } from '../definition/operation.ts';

const TYPE = 'client-preset';
const PATH = 'client-presets';

/** Schema of a step. */
export const PRESET_STEP = z.union([
  z.object({ kind: z.literal('text').describe('Kind of step.'), text: z.string().describe('Text in Markdown.') }),
  z.object({
    kind: z.literal('fields').describe('Kind of step.'),
    fields: z
      .array(z.object({ label: z.string().describe('Label.'), value: z.string().describe('Value to enter.') }))
      .readonly()
      .describe('Fields of a form.'),
  }),
  z.object({
    kind: z.literal('file').describe('Kind of step.'),
    name: z.string().describe('Name of the file, or where the text belongs.'),
    language: z.string().describe('Language for syntax highlighting; empty: none.'),
    content: z.string().describe('Text to add to the file.'),
  }),
  z.object({
    kind: z.literal('command').describe('Kind of step.'),
    content: z.string().describe('Command for a shell.'),
  }),
]);

const checked = z.union([
  z.object({
    how: z.literal('tested').describe('Our tests ran it.'),
    with: z.enum(['program', 'library']).describe('What ran: the program itself or its OpenID Connect library.'),
    name: z.string().describe('Name of the program or library.'),
    version: z.string().describe('Its version.'),
    test: z.string().describe('Path of the test in the repository.'),
  }),
  z.object({
    how: z.literal('documentation').describe('Its documentation was read.'),
    url: z.string().describe('URL of the documentation.'),
    on: z.string().describe('When it was read, as `YYYY-MM-DD`.'),
  }),
]);

const uris = (description: string) => z.array(z.string()).readonly().describe(description);

const attributes = z.object({
  slug: z.string().describe('Name of the preset, for `preset` of a client and for commands.'),
  name: z.string().describe('Name of the program.'),
  category: z.enum(PRESET_CATEGORIES).describe('Kind of program.'),
  url: z
    .object({
      example: z.string().describe('Example.'),
      note: z.string().nullable().describe('Which URL is meant, if that is not obvious.'),
    })
    .nullable()
    .describe('Base URL of the program, the value of `{url}` without a trailing slash; null: not needed.'),
  registers_itself: z.boolean().describe('Whether the program registers a client like this one itself.'),
  client: z
    .object({
      client_auth_method: z.string().describe('Authentication method.'),
      application_type: z.string().optional().describe('Type of application.'),
      redirect_uris: uris('Allowed redirect URIs.'),
      post_logout_redirect_uris: uris('Allowed redirect URIs after logout.').optional(),
      backchannel_logout_uri: z.string().optional().describe('Endpoint that receives logout tokens.'),
      grant_types: uris('Grant types.').optional(),
    })
    .describe(
      'Properties of the client as templates; `{url}` is the only variable. Create it with `scopes` as `scope`.',
    ),
  scopes: z.array(z.string()).readonly().describe('All scopes that the program may request.'),
  groups: z.string().nullable().describe('What the program does with the claim `groups`; null: it does not use it.'),
  steps: z
    .array(PRESET_STEP)
    .readonly()
    .describe(
      'What to enter in the program. Variables: `{url}`, `{issuer}`, `{discovery}`, `{authorize}`, `{token}`, ' +
        '`{userinfo}`, `{keys}`, `{logout}`, `{client_id}` and `{client_secret}`; `{url%}` is percent-encoded.',
    ),
  sign_out: z
    .object({
      from_program: z.string().describe('Whether sign-out from the program also ends the session here.'),
      from_service: z.string().describe('Whether sign-out from here also ends the session of the program.'),
    })
    .describe('What sign-out ends.'),
  notes: z
    .array(z.object({ topic: z.string().describe('Topic or error message.'), text: z.string().describe('Advice.') }))
    .readonly()
    .describe('Further settings and known problems, in Markdown.'),
  checked: checked.describe('How the settings were checked.'),
});

const self = (of: string) => z.object({ self: z.string().describe(`Path of ${of}.`) }).describe('Links.');

const resource = z
  .object({
    type: z.literal(TYPE).describe('Type of the object.'),
    id: z.string().describe('Name of the preset.'),
    attributes: attributes.describe('Attributes of the object.'),
    links: self('the object'),
  })
  .describe('Settings for a well-known program.');

export const clientPresetOperations: readonly Operation[] = [
  {
    id: 'listClientPresets',
    method: 'GET',
    path: PATH,
    tag: TYPE,
    summary: 'Lists settings for well-known programs',
    description: 'Returns all presets, sorted by name, on one page.',
    answers: [
      {
        status: 200,
        schema: z.object({
          meta: z.object({ count: z.int().describe('Number of presets.') }).describe('Metadata of the list.'),
          data: z.array(resource).describe('All presets.'),
          links: self('this response'),
        }),
        description: `All objects of type \`${TYPE}\`.`,
      },
    ],
    errors: ['invalid_parameter'],
    run: async ({ context, base }) => {
      checkNames(context.query, z.object({}), []);
      const data = CLIENT_PRESETS.map((preset) => documentOf(preset, base));
      return json(200, { meta: { count: data.length }, data, links: { self: `${base}/${PATH}` } });
    },
  },
  {
    id: 'getClientPreset',
    method: 'GET',
    path: `${PATH}/:slug`,
    tag: TYPE,
    summary: 'Gets the settings for a program',
    description: 'Returns a preset by its name.',
    answers: [
      {
        status: 200,
        schema: z.object({ data: resource, links: self('this response') }),
        description: `The object of type \`${TYPE}\`.`,
      },
    ],
    errors: ['not_found'],
    run: async ({ context, base }) => {
      const preset = findPreset(context.params['slug'] ?? '');
      if (preset === undefined) throw missing(TYPE, 'name');
      const data = documentOf(preset, base);
      return json(200, { data, links: data.links });
    },
  },
];

function documentOf(preset: Preset, base: string) {
  const { url, registersItself, groups, signOut, ...others } = preset;
  const shown: z.input<typeof attributes> = {
    ...others,
    url: url === undefined ? null : { example: url.example, note: url.note ?? null },
    registers_itself: registersItself === true,
    groups: groups ?? null,
    sign_out: { from_program: signOut.fromProgram, from_service: signOut.fromService },
  };
  return { type: TYPE, id: preset.slug, attributes: shown, links: { self: `${base}/${PATH}/${preset.slug}` } };
}
