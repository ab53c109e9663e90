/** Starts the interactive reference of the admin API (`/api/doc/`). Access tokens stay in the page's memory. */
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
  // Its colors lack contrast, and it creates an element for each token.
  syntaxHighlight: { activated: false },
  requestInterceptor: withoutEmptySecret,
  plugins: [accessible],
});
ui.initOAuth({ scopes: 'urn:mas:admin', usePkceWithAuthorizationCodeGrant: true });

/**
 * Repairs the markup of Swagger UI (WCAG 2.2 1.3.1, 2.1.1, 2.4.3, 2.4.6, 4.1.2): links inside buttons, skipped heading
 * levels, content outside of landmarks, a table announced as a region, fields and buttons without names, and a dialog
 * that does not keep the focus.
 */
function accessible({ React }) {
  const { createElement, cloneElement, createContext, useContext, useLayoutEffect, useRef } = React;
  /** Name of the parameter that a field sets. */
  const FieldName = createContext('Request body');
  const region = (label) => (Original) => (props) =>
    createElement('section', { 'aria-label': label }, createElement(Original, props));
  /** Repairs the rendered output of a component whose parts cannot be replaced. */
  const repaired = (repair) => (Original) => (props) => {
    const element = useRef(null);
    useLayoutEffect(() => repair(element.current));
    return createElement('div', { ref: element }, createElement(Original, props));
  };
  return {
    wrapComponents: {
      // The surrounding button opens the operation and sets the URL.
      DeepLink:
        () =>
        ({ text }) =>
          createElement('span', null, text),
      CopyToClipboardBtn: (Original) => (props) =>
        cloneElement(Original(props), { 'aria-label': undefined, title: undefined }),
      // This service is the only server.
      ServersContainer: () => () => null,
      InfoContainer: region('About the API'),
      AuthorizeBtnContainer: region('Sign-in'),
      FilterContainer: region('Filter'),
      Models: region('Schemas'),
      operations: (Original) => (props) =>
        createElement('div', null, createElement('h2', null, 'Operations'), createElement(Original, props)),
      JsonSchemaForm: (Original) => (props) =>
        createElement(FieldName.Provider, { value: props.description }, createElement(Original, props)),
      Select: (Original) =>
        class extends Original {
          static contextType = FieldName;
          render() {
            return cloneElement(super.render(), { 'aria-label': this.context });
          }
        },
      // The title is the name of the button that opens a schema.
      JSONSchema202012KeywordTitle: (Original) => (props) =>
        createElement(Original, { ...props, title: props.title || props.schema?.title || 'Schema' }),
      TextArea: () => (props) => createElement('textarea', { 'aria-label': useContext(FieldName), ...props }),
      // Its name is its visible text (WCAG 2.2 2.5.3).
      Button:
        (Original) =>
        ({ 'aria-label': _name, ...props }) =>
          createElement(Original, props),
      // The response body scrolls, so it must be focusable. Examples and commands are shown in full.
      PlainTextViewer:
        () =>
        ({ className, children }) =>
          createElement(
            'pre',
            className === undefined
              ? { className: 'microlight', tabIndex: 0, role: 'group', 'aria-label': 'Response body' }
              : { className: `microlight ${className}` },
            children,
          ),
      responses: repaired((element) => {
        // With the region role, it would not be announced as a table.
        for (const table of element.querySelectorAll('table[role=region]')) table.removeAttribute('role');
        // The button inside has the name.
        for (const copy of element.querySelectorAll('div.copy-to-clipboard')) copy.removeAttribute('aria-label');
      }),
      authorizationPopup: () => AuthorizationDialog,
      auths: repaired((element) => {
        for (const [selector, level] of [
          ['h4', 3],
          ['h2, h6', 4],
        ]) {
          for (const heading of element.querySelectorAll(selector)) heading.setAttribute('aria-level', level);
        }
      }),
    },
  };

  /**
   * Uses a modal dialog element, which keeps the focus inside, closes with Escape and returns the focus to its button.
   */
  function AuthorizationDialog({ authSelectors, authActions, getComponent, errSelectors, specSelectors, fn }) {
    const dialog = useRef(null);
    useLayoutEffect(() => {
      const { current } = dialog;
      current.showModal();
      return () => current.close();
    }, []);
    const close = () => authActions.showDefinitions(false);
    const Definition = getComponent('auths');
    const parts = { AST: fn.AST ?? {}, getComponent, errSelectors, authSelectors, authActions, specSelectors };
    const closeButton = { type: 'button', className: 'close-modal', 'aria-label': 'Close', onClick: close };
    return createElement(
      'dialog',
      { ref: dialog, className: 'dialog-ux', 'aria-labelledby': 'authorizations', onClose: close },
      createElement(
        'div',
        { className: 'modal-ux' },
        createElement(
          'div',
          { className: 'modal-ux-header' },
          createElement('h2', { id: 'authorizations' }, 'Available authorizations'),
          createElement('button', closeButton, createElement(getComponent('CloseIcon'))),
        ),
        createElement(
          'div',
          { className: 'modal-ux-content' },
          ...authSelectors
            .shownDefinitions()
            .map((definitions) => createElement(Definition, { ...parts, definitions })),
        ),
      ),
    );
  }
}

/** A public client has no secret. An empty one would count as wrong. */
function withoutEmptySecret(request) {
  if (typeof request.body !== 'string') return request;
  const { 'Content-Type': contentType = '' } = request.headers ?? {};
  if (!contentType.startsWith('application/x-www-form-urlencoded')) return request;
  const form = new URLSearchParams(request.body);
  if (form.get('client_secret') === '') form.delete('client_secret');
  return { ...request, body: form.toString() };
}

/**
 * Receives the response of `/authorize` from the callback page in the window that this page opened. A response with a
 * different state is rejected, because its code could belong to someone else's account (RFC 9700 4.7).
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
