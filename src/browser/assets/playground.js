// Sends documents to the API, and shows the responses. No input is stored, least of all access tokens.

const SCHEMA = `query Schema { __schema { types {
  kind name description
  fields(includeDeprecated: true) { name args { name type { ...Named } } type { ...Named } }
  inputFields { name type { ...Named } }
  enumValues(includeDeprecated: true) { name }
  possibleTypes { name }
} } }
fragment Named on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`;

const playground = document.querySelector('.playground');
const { endpoint, failed, notJson } = playground.dataset;
const at = (id) => document.getElementById(id);
const state = playground.querySelector('[role=status]');
const [answer, schema] = [at('answer'), at('schema')];

playground.querySelector('button').addEventListener('click', () => {
  void run();
});
playground.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  void run();
});
// Browsers scroll the caret into view, but not the field around it.
playground.addEventListener('focusin', ({ target }) => target.scrollIntoView({ block: 'nearest' }));
playground.querySelector('details').addEventListener('toggle', () => {
  if (schema.value === '') void showSchema();
});

async function showSchema() {
  const { data, errors } = (await send(SCHEMA, {}, {})) ?? {};
  schema.value = data?.__schema == null ? errorText(errors) : data.__schema.types.map(typeText).join('\n\n');
}

async function run() {
  const [variables, headers] = [objectIn('variables'), objectIn('headers')];
  state.textContent = variables === undefined || headers === undefined ? notJson : '';
  if (state.textContent !== '') return;
  const answered = await send(at('document').value, variables, headers);
  answer.value = answered === undefined ? '' : JSON.stringify(answered, undefined, 2);
}

/** Returns undefined and shows a message if the request fails. */
async function send(query, variables, headers) {
  try {
    const response = await fetch(endpoint, {
      method: 'POST',
      credentials: 'same-origin',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables }),
    });
    return await response.json();
  } catch {
    state.textContent = failed;
    return undefined;
  }
}

/** Returns undefined if the text is not a JSON object. */
function objectIn(id) {
  const text = at(id).value.trim();
  try {
    const value = text === '' ? {} : JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function errorText(errors = []) {
  return errors.map(({ message }) => message).join('\n');
}

const WORDS = {
  OBJECT: 'type',
  INPUT_OBJECT: 'input',
  INTERFACE: 'interface',
  ENUM: 'enum',
  UNION: 'union',
  SCALAR: 'scalar',
};

/** Formats a type in schema language, without details that readers do not need. */
function typeText({ kind, name, description, fields, inputFields, enumValues, possibleTypes }) {
  const lines = [...(fields ?? inputFields ?? []).map(fieldText), ...(enumValues ?? []).map((value) => value.name)];
  const body = lines.length === 0 ? '' : ` {\n${lines.map((line) => `  ${line}`).join('\n')}\n}`;
  const of = kind === 'UNION' ? ` = ${possibleTypes.map((type) => type.name).join(' | ')}` : '';
  return `${description ? `# ${description}\n` : ''}${WORDS[kind]} ${name}${of}${body}`;
}

function fieldText({ name, args = [], type }) {
  const given = args.map((argument) => `${argument.name}: ${reference(argument.type)}`).join(', ');
  return `${name}${given === '' ? '' : `(${given})`}: ${reference(type)}`;
}

function reference({ kind, name, ofType }) {
  if (kind === 'NON_NULL') return `${reference(ofType)}!`;
  return kind === 'LIST' ? `[${reference(ofType)}]` : name;
}
