// Creates a passkey if the device supports it: shows the form and fills it in.

const form = document.querySelector('form[data-passkey-creation]');
const failure = form.querySelector('[data-passkey-failed]');

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

function parseOptions(options) {
  if (typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function') {
    return PublicKeyCredential.parseCreationOptionsFromJSON(options);
  }
  const { challenge, user, excludeCredentials } = options;
  return {
    ...options,
    challenge: toBytes(challenge),
    user: { ...user, id: toBytes(user.id) },
    excludeCredentials: excludeCredentials.map((known) => ({ ...known, id: toBytes(known.id) })),
  };
}

// Written out, because some browser extensions replace the object without its `toJSON`.
function describe({ id, type, response }) {
  return {
    id,
    rawId: id,
    type,
    clientExtensionResults: {},
    response: {
      clientDataJSON: toText(response.clientDataJSON),
      attestationObject: toText(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

async function create() {
  const response = await fetch(form.dataset.passkeyCreation, {
    method: 'POST',
    headers: { accept: 'application/json', 'x-csrf-token': form.elements.csrf.value },
  });
  if (!response.ok) throw new Error(`no options: ${response.status}`);
  const { challenge, publicKey } = await response.json();
  const credential = await navigator.credentials.create({ publicKey: parseOptions(publicKey) });
  form.elements.challenge.value = challenge;
  form.elements.credential.value = JSON.stringify(describe(credential));
  form.submit();
}

async function add() {
  const button = form.querySelector('button');
  button.disabled = true;
  failure.hidden = true;
  try {
    await create();
  } catch (error) {
    // Canceling is not an error.
    failure.hidden = error.name === 'NotAllowedError' || error.name === 'AbortError';
  }
  button.disabled = false;
}

if (window.PublicKeyCredential !== undefined) {
  for (const missing of document.querySelectorAll('[data-passkey-missing]')) missing.hidden = true;
  form.hidden = false;
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void add();
  });
}
