/** Simulated users: registration, password change and password reset. */
import { randomBytes } from 'node:crypto';
import { isSignedIn, passwordWorks, tokensWork, tokenWorks } from './facts.js';
import { Unanswered } from './requests.js';

/** A job whose process died is retried after a minute. A user who waits for its mail gives up and starts over. */
const MAIL_MS = 10_000;

/** Results for a ticket that has expired or was deleted since. */
const OVER = ['EXPIRED_RECOVERY_TICKET', 'NO_SUCH_RECOVERY_TICKET'];
/** Result for the ticket of an abandoned attempt, once a later attempt has set a password. */
const SUPERSEDED = 'RECOVERY_TICKET_ALREADY_USED';

/** A user with an account, and the sessions of the user. */
class User {
  username = `p${randomBytes(6).toString('hex')}`;
  email = `${this.username}@mail.example`;
  password = newPassword();
  /** `{ visitor, fact }` of each browser. */
  browsers = [];
  /** `{ accessToken, refreshToken, isRefreshing }` of each client; an expired access token is removed. */
  sessions = [];
  /** Access token of each chat client. */
  chats = [];
  /** Number of clock changes when a mail was requested that has not arrived yet. */
  mailSince;
  /** The state of the account is unknown. */
  isOver = false;

  get passwordFact() {
    return passwordWorks(this.username, this.password);
  }

  /** Facts of all tokens that clients and chat clients hold. */
  get tokenFacts() {
    return [...this.sessions.flatMap(tokensWork), ...this.chats.map(tokenWorks)];
  }

  keepBrowser(visitor, fact) {
    this.browsers.push({ visitor, fact });
  }
}

/** @returns the user, once the account exists */
export async function register({ requests, journal, mailboxes, isOn }) {
  const person = new User();
  const { username, email, password } = person;
  const visitor = requests.visitor();
  await visitor.get('/register/password');
  await visitor.submit({ username, email, password });
  await visitor.follow();
  const code = await mailboxes.find(email, ({ subject }) => /\b\d{6}\b/.exec(subject)?.[0], {
    ...{ since: 0, isAwaited: isOn, timeoutMs: MAIL_MS },
  });
  if (code === undefined) throw new Unanswered(`mail with a code for ${username}`, true);
  await visitor.submit({ action: 'verify', code });
  await visitor.follow();
  await visitor.submit({ action: 'skip' });
  journal.know(false, person.passwordFact);
  await journal.change(`registration of ${username}`, [[person.passwordFact, true]], () =>
    visitor.get(visitor.page.location, [303]),
  );
  // Without a response, the browser has no cookie.
  const browser = isSignedIn(visitor, username);
  journal.know(true, browser);
  person.keepBrowser(visitor, browser);
  return person;
}

const CHANGE = `mutation ChangePassword(
  $userId: ID!, $oldPassword: String, $newPassword: String!, $endApplicationSessions: Boolean
) {
  setPassword(input: {
    userId: $userId, currentPassword: $oldPassword, newPassword: $newPassword,
    endApplicationSessions: $endApplicationSessions
  }) { status }
}`;

/** Signs out other browsers, and clients in half of the cases. */
export async function changePassword({ journal }, person) {
  const [own, ...others] = person.browsers;
  const endsApplications = Math.random() < 0.5;
  const next = newPassword();
  const { viewer } = await own.visitor.graphql('query CurrentViewer { viewer { ... on User { id } } }');
  const variables = {
    ...{ userId: viewer.id, oldPassword: person.password, newPassword: next },
    endApplicationSessions: endsApplications,
  };
  // The response sets a new cookie: without it, the browser is signed out.
  journal.forget(own.fact);
  await replacePassword(journal, person, next, { endsBrowsers: others, endsApplications }, async () => {
    const { setPassword } = await own.visitor.graphql(CHANGE, variables);
    return setPassword.status;
  });
  journal.know(true, own.fact);
}

const RECOVER = `mutation RecoverPassword($ticket: String!, $newPassword: String!, $endAllSessions: Boolean) {
  setPasswordByRecovery(input: { ticket: $ticket, newPassword: $newPassword, endAllSessions: $endAllSessions }) { status }
}`;

/** Signs out all browsers, and clients in half of the cases. */
export async function recoverPassword({ requests, journal, moment, mailboxes, isOn }, person) {
  const { email, username, mailSince } = person;
  // A mail from an abandoned attempt may arrive instead of the one requested now.
  person.mailSince ??= moment.start;
  const visitor = requests.visitor();
  const since = mailboxes.count(email);
  await visitor.get('/recover');
  await visitor.submit({ email });
  const ticket = await mailboxes.find(email, ({ text }) => /ticket=([0-9A-Za-z]{32})/.exec(text)?.[1], {
    ...{ since, isAwaited: isOn, timeoutMs: MAIL_MS },
  });
  if (ticket === undefined) throw new Unanswered(`mail with a link for ${username}`, false);
  person.mailSince = mailSince;
  const next = newPassword();
  const endsApplications = Math.random() < 0.5;
  await replacePassword(journal, person, next, { endsBrowsers: person.browsers, endsApplications }, async () => {
    const variables = { ticket, newPassword: next, endAllSessions: endsApplications };
    const { status } = (await visitor.graphql(RECOVER, variables)).setPasswordByRecovery;
    const isOver = OVER.includes(status) && mailSince < moment.start;
    if (isOver) throw new Unanswered('a link of before clocks were set', true);
    const isSuperseded = status === SUPERSEDED && mailSince !== undefined;
    if (isSuperseded) throw new Unanswered('a link of an abandoned attempt', true);
    return status;
  });
}

async function replacePassword(journal, person, next, { endsBrowsers, endsApplications }, send) {
  const after = [
    [person.passwordFact, false],
    [passwordWorks(person.username, next), true],
    ...endsBrowsers.map(({ fact }) => [fact, false]),
    ...(endsApplications ? person.tokenFacts.map((fact) => [fact, false]) : []),
  ];
  journal.know(false, passwordWorks(person.username, next));
  try {
    await journal.change(`new password of ${person.username}`, after, async () => {
      const status = await send();
      if (status !== 'ALLOWED') throw new Error(`a new password was answered ${status}`);
    });
  } catch (error) {
    person.isOver = !(error instanceof Unanswered) || error.wasSent;
    throw error;
  }
  person.password = next;
  person.browsers = person.browsers.filter((browser) => !endsBrowsers.includes(browser));
  if (endsApplications) {
    person.sessions = [];
    person.chats = [];
  }
}

function newPassword() {
  return `plum granite ${randomBytes(9).toString('base64url')}`;
}
