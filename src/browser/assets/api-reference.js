/** Starts the interactive reference of the admin API (`/api/doc/`). Access tokens stay in the memory of the page. */
import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';

const root = document.querySelector('#reference');
const { description, callback } = root.dataset;

const prefersDark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', prefersDark.matches);
followScheme();
prefersDark.addEventListener('change', followScheme);

const ui = SwaggerUI({
  domNode: root,
  url: description,
  oauth2RedirectUrl: callback,
  deepLinking: true,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  validatorUrl: null,
  requestInterceptor: withoutEmptySecret,
  plugins: [accessible],
});
ui.initOAuth({ scopes: 'urn:mas:admin', usePkceWithAuthorizationCodeGrant: true });

/**
 * What axe finds in the markup of Swagger UI (WCAG 2.2 1.3.1, 2.4.6, 4.1.2): links inside buttons, levels of headings
 * that are left out, parts outside of landmarks, and a list of servers without a name.
 */
function accessible({ React: { createElement, cloneElement } }) {
  const region = (label) => (Original) => (props) =>
    createElement('section', { 'aria-label': label }, createElement(Original, props));
  return {
    wrapComponents: {
      // The button around it opens the operation, and sets the address.
      DeepLink:
        () =>
        ({ text }) =>
          createElement('span', null, text),
      CopyToClipboardBtn: (Original) => (props) =>
        cloneElement(Original(props), { 'aria-label': undefined, title: undefined }),
      // There is one server, which is this one.
      ServersContainer: () => () => null,
      InfoContainer: region('About the API'),
      AuthorizeBtnContainer: region('Sign-in'),
      FilterContainer: region('Filter'),
      Models: region('Schemas'),
      operations: (Original) => (props) =>
        createElement('div', null, createElement('h2', null, 'Operations'), createElement(Original, props)),
    },
  };
}

/** A public client has no secret; an empty one would count as a wrong one. */
function withoutEmptySecret(request) {
  if (typeof request.body !== 'string') return request;
  const { 'Content-Type': contentType = '' } = request.headers ?? {};
  if (!contentType.startsWith('application/x-www-form-urlencoded')) return request;
  const form = new URLSearchParams(request.body);
  if (form.get('client_secret') === '') form.delete('client_secret');
  return { ...request, body: form.toString() };
}

/**
 * The answer of `/authorize`, from the callback page in the window that this page opened. An answer with the state of
 * another request is refused: the code could be that of somebody else's account (RFC 9700 4.7).
 */
addEventListener('message', ({ origin, data }) => {
  if (origin !== location.origin || typeof data?.authorizationResponse !== 'string') return;
  const pending = globalThis.swaggerUIRedirectOauth2;
  if (pending === undefined) return;
  const answer = new URLSearchParams(data.authorizationResponse);
  const problem = problemOf(answer, pending.state);
  if (problem !== undefined) {
    pending.errCb({ authId: pending.auth.name, source: 'auth', level: 'error', message: problem });
    return;
  }
  globalThis.swaggerUIRedirectOauth2 = undefined;
  pending.auth.code = answer.get('code');
  pending.callback({ auth: pending.auth, redirectUrl: pending.redirectUrl });
});

function problemOf(answer, state) {
  if (answer.get('state') !== state) return 'The answer does not belong to this sign-in. Begin again.';
  const error = answer.get('error');
  if (error !== null) return [error, answer.get('error_description')].filter(Boolean).join(': ');
  return answer.get('code') === null ? 'The answer holds no code. Begin again.' : undefined;
}
