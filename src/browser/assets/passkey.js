// Signs in with a passkey if the browser supports it: shows the passkey forms and fills them in.

/** The service accepts a response for five minutes. */
const RENEW_MS = 4 * 60_000;
const forms = [...document.querySelectorAll('form[data-passkey-options]')];
let offer;

const toBytes = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) => character.charCodeAt(0));
const toText = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

function parseOptions(options) {
  if (typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function') {
    return PublicKeyCredential.parseRequestOptionsFromJSON(options);
  }
  const allowCredentials = options.allowCredentials.map((known) => ({ ...known, id: toBytes(known.id) }));
  return { ...options, challenge: toBytes(options.challenge), allowCredentials };
}

// Written out, because some browser extensions replace the object without its `toJSON`.
function describe({ id, type, authenticatorAttachment, response }) {
  const { clientDataJSON, authenticatorData, signature, userHandle } = response;
  return {
    id,
    rawId: id,
    type,
    authenticatorAttachment,
    clientExtensionResults: {},
    response: {
      clientDataJSON: toText(clientDataJSON),
      authenticatorData: toText(authenticatorData),
      signature: toText(signature),
      userHandle: userHandle ? toText(userHandle) : null,
    },
  };
}

/** One of the page's forms contains the token. */
function tokenOf(form) {
  const own = form.elements.csrf;
  if (own !== undefined) return own.value;
  const copy = document.querySelector('input[name=csrf]').cloneNode();
  form.append(copy);
  return copy.value;
}

async function ask(form, more) {
  const response = await fetch(form.dataset.passkeyOptions, {
    method: 'POST',
    headers: { accept: 'application/json', 'x-csrf-token': tokenOf(form) },
    signal: more.signal,
  });
  if (!response.ok) throw new Error(`no options: ${response.status}`);
  const { publicKey } = await response.json();
  const credential = await navigator.credentials.get({ publicKey: parseOptions(publicKey), ...more });
  form.elements.credential.value = JSON.stringify(describe(credential));
  form.submit();
}

/** Offers passkeys in the autofill suggestions for the username. */
async function offerPasskeys(form) {
  if (document.hidden) {
    document.addEventListener('visibilitychange', () => void offerPasskeys(form), { once: true });
    return;
  }
  offer = new AbortController();
  const { signal } = offer;
  const renewal = setTimeout(() => {
    offer.abort();
    void offerPasskeys(form);
  }, RENEW_MS);
  signal.addEventListener('abort', () => clearTimeout(renewal));
  try {
    await ask(form, { mediation: 'conditional', signal });
  } catch {
    // The user did not request this, so no error is shown. The button shows errors.
    clearTimeout(renewal);
  }
}

async function use(form) {
  const button = form.querySelector('button');
  const failure = form.querySelector('[data-passkey-failed]');
  // A browser handles only one request at a time.
  offer?.abort();
  button.disabled = true;
  failure.hidden = true;
  try {
    await ask(form, {});
  } catch (error) {
    // Canceling is not an error.
    failure.hidden = error.name === 'NotAllowedError' || error.name === 'AbortError';
  }
  button.disabled = false;
}

if (window.PublicKeyCredential !== undefined) {
  for (const missing of document.querySelectorAll('[data-passkey-missing]')) missing.hidden = true;
  for (const form of forms) {
    form.hidden = false;
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      void use(form);
    });
  }
  const capable = document.querySelector('[data-passkey-capable]');
  if (capable !== null) {
    PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable?.().then(
      (isAvailable) => {
        if (isAvailable) capable.value = 'on';
      },
      () => {},
    );
  }
  const offered = forms.find((form) => form.dataset.passkeyOffered !== undefined);
  if (offered !== undefined) {
    PublicKeyCredential.isConditionalMediationAvailable?.().then(
      (isAvailable) => isAvailable && offerPasskeys(offered),
      () => {},
    );
  }
}
