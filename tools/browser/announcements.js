import assert from 'node:assert/strict';

/**
 * Changes that users can make in the account area, by the journey that makes them. Each must be announced by an element
 * with the role `status`, because screen readers do not notice other changes on the page.
 */
export const ANNOUNCED = {
  account: [
    'AddEmail',
    'ChangePassword',
    'CompleteTotpEnrolment',
    'DoVerifyEmail',
    'EndAllSessions',
    'EndBrowserSession',
    'EndCompatSession',
    'EndOAuth2Session',
    'RegenerateRecoveryCodes',
    'RemoveEmail',
    'RemoveTotp',
    'ResendEmailAuthenticationCode',
    'RevokeApplication',
    'RevokeConsent',
    'SetCompatSessionName',
    'SetDisplayName',
    'SetOAuth2SessionName',
    'SetPrimaryEmail',
    'SetProfile',
    'StartDataExport',
  ],
  chat: ['AllowCrossSigningReset', 'DeactivateUser'],
  linked: ['UnlinkUpstreamAccount'],
  passkeys: ['CompletePasskeyRegistration', 'RemovePasskey', 'SetPasskeyName'],
  recovery: ['RecoverPassword'],
};

/** They require a proof or lead to another page, and change nothing yet. */
export const UNANNOUNCED = ['ResendRecoveryEmail', 'StartPasskeyRegistration', 'StartTotpEnrolment'];

const SUCCESSES = new Set([
  ...['ADDED', 'ALLOWED', 'COMPLETED', 'DEACTIVATED', 'ENDED', 'ENROLLED', 'GENERATED', 'REMOVED', 'RESENT', 'REVOKED'],
  ...['SET', 'STARTED', 'UNLINKED', 'UPDATED'],
]);

/**
 * Records the changes made on a page, and its announcements. Call it before the page is opened.
 * @param page of a user in the account area
 */
export async function hearAnnouncements(page) {
  const heard = [];
  await page.exposeBinding('announced', (_, text) => heard.push({ text }));
  await page.addInitScript(tellOfAnnouncements);
  // A new document: the previous one could not have announced anything.
  page.on('load', () => heard.push({ text: 'another document' }));
  page.on('response', async (response) => {
    const name = mutationOf(response.request());
    if (name === undefined) return;
    const entry = { mutation: name, isSuccess: false };
    heard.push(entry);
    const { data } = await response.json().catch(() => ({}));
    const [result] = Object.values(data ?? {});
    entry.isSuccess = result?.status === undefined ? data != null : SUCCESSES.has(result.status);
  });
  return {
    /** @param expected the changes that must have been made */
    check: (expected) => {
      const made = heard.filter(({ isSuccess }) => isSuccess).map(({ mutation }) => mutation);
      const silent = heard.flatMap(({ mutation, isSuccess }, index) => {
        const next = heard.slice(index + 1).find((entry) => entry.text !== undefined || entry.isSuccess);
        return isSuccess === true && next?.text === undefined ? [mutation] : [];
      });
      assert.deepEqual(silent, [], 'changes that nothing with the role status said');
      assert.deepEqual(
        expected.filter((name) => !made.includes(name)),
        [],
        'changes that were not made',
      );
    },
  };
}

function mutationOf(request) {
  if (request.method() !== 'POST' || new URL(request.url()).pathname !== '/graphql') return undefined;
  const { operationName, query } = request.postDataJSON();
  return query.startsWith('mutation') && !UNANNOUNCED.includes(operationName) ? operationName : undefined;
}

/** Runs in the page. */
function tellOfAnnouncements() {
  const tell = (node) => {
    const element = node instanceof Element ? node : node.parentElement;
    const around = element?.closest('[role=status]');
    const regions = around == null ? (element?.querySelectorAll('[role=status]') ?? []) : [around];
    for (const region of regions) {
      const text = region.textContent.trim();
      if (text !== '' && !region.classList.contains('loading')) globalThis.announced(text);
    }
  };
  const observer = new MutationObserver((records) => {
    for (const { type, target, addedNodes } of records) {
      if (type === 'characterData') tell(target);
      else for (const node of addedNodes) tell(node);
    }
  });
  observer.observe(document, { childList: true, subtree: true, characterData: true });
}
