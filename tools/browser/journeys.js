/** End-to-end journeys of users, each with separate services and a database. */
import assert from 'node:assert/strict';
import { endAccounts } from './account-end.js';
import { checkOperations, lookAfterAccount } from './account-journey.js';
import { LINKED_OPERATIONS, linkAndUnlink } from './account-linked.js';
import { checkPaint } from './account-paint.js';
import { administerApplications } from './admin-applications.js';
import { administer } from './admin-area-journey.js';
import { keepEdits } from './admin-drafts.js';
import { manageGroups } from './admin-groups-journey.js';
import { administerInvitations } from './admin-invitations.js';
import { watchedSettings, watchProviders } from './admin-providers-journey.js';
import { configureService } from './admin-settings.js';
import {
  callByKeyboard,
  callFromReference,
  examineReference,
  hideAnswerFromOthers,
  refuseForeignAnswers,
} from './api-reference-journey.js';
import { obeyChatClients } from './chat-account-journey.js';
import { signInToChat } from './chat-journey.js';
import { registerByEmail } from './email-registration-journey.js';
import { travel } from './journey.js';
import { Latchkey } from './latchkey.js';
import { loadTypeScript } from './load-typescript.js';
import { examineMail, MailServer } from './mails.js';
import { usePasskeys } from './passkey-journey.js';
import { recover } from './recovery-journey.js';
import { checkRequestLines } from './request-lines.js';
import {
  accountSettings,
  chatSettings,
  emailRegistrationSettings,
  PASSWORD,
  settings,
  unpromptedSettings,
  upstreamSettings,
} from './settings.js';
import { registerUnprompted } from './unprompted-registration-journey.js';
import { linkAndReturn, registerThere } from './upstream-journey.js';
import { UpstreamProvider } from './upstream-provider.js';
import { redirectUris, suggestingService, unpromptedService } from './upstream-services.js';

/** Registers, signs in and out, from an application and from a chat client. */
export async function checkJourneys(checks, { browser, folder, relyingParty }) {
  const latchkey = await Latchkey.start(folder, 'journeys', settings(relyingParty.callback));
  await relyingParty.discover(latchkey.base);
  const expected = [];
  for (const [colorScheme, javaScriptEnabled, username] of [
    ['light', true, 'eno'],
    ['dark', true, 'femi'],
    ['light', false, 'gus'],
    ['dark', false, 'hana'],
  ]) {
    const claim = `a person signs up, in and out by keyboard (${colorScheme}, scripts ${javaScriptEnabled ? 'on' : 'off'})`;
    const how = { browser, base: latchkey.base, relyingParty, colorScheme, javaScriptEnabled, username };
    await checks.that(claim, async () => {
      expected.push(...(await travel(how)));
    });
  }
  for (const [javaScriptEnabled, username] of [
    [true, 'keke'],
    [false, 'jule'],
  ]) {
    const scripts = `scripts ${javaScriptEnabled ? 'on' : 'off'}`;
    await checks.that(
      `a chat client sends a person to the browser, who signs up by keyboard (${scripts})`,
      async () => {
        expected.push(
          ...(await signInToChat({ browser, base: latchkey.base, relyingParty, javaScriptEnabled, username })),
        );
      },
    );
  }
  await checks.that('the program ends with 0 when it is told to stop', async () => {
    assert.equal(await latchkey.stop(), 0);
  });
  await checks.that('the log tells each request of the journeys, in order, and who made it', async () => {
    await checkRequestLines(latchkey.logLines(), expected);
  });
}

/** Calls the admin API from its reference. */
export async function checkApiReference(checks, { browser, folder, relyingParty }) {
  const latchkey = await Latchkey.start(folder, 'reference', settings(relyingParty.callback));
  const how = { browser, base: latchkey.base, username: 'amira' };
  try {
    await latchkey.command(['manage', 'register-user', '--yes', '--password-file', '-', how.username], PASSWORD);
    await checks.that('axe finds nothing on the reference of the admin API', () => examineReference(how));
    await checks.that('the keyboard calls an operation of the reference', () => callByKeyboard(how));
    await checks.that('an administrator calls the API from its reference', () => callFromReference(how));
    await checks.that('the reference takes no answer that it did not ask for', () => refuseForeignAnswers(how));
    await checks.that('its callback tells no other page the answer', () => hideAnswerFromOthers(how));
  } finally {
    await latchkey.stop();
  }
}

/** Administers in the browser. */
export async function checkAdminArea(checks, { folder, relyingParty, ...place }) {
  const latchkey = await Latchkey.start(folder, 'admin-area', settings(relyingParty.callback));
  try {
    await administer(checks, { ...place, latchkey });
    await manageGroups(checks, { ...place, latchkey });
  } finally {
    await latchkey.stop();
  }
}

/** Reads settings, and edits the policy data. */
export async function checkAdminSettings(checks, { folder, relyingParty, ...place }) {
  const latchkey = await Latchkey.start(folder, 'settings', settings(relyingParty.callback));
  try {
    await configureService(checks, { ...place, latchkey });
  } finally {
    await latchkey.stop();
  }
}

/** Administers applications in the browser. */
export async function checkAdminApplications(checks, { folder, relyingParty, ...place }) {
  const latchkey = await Latchkey.start(folder, 'applications', settings(relyingParty.callback));
  try {
    await administerApplications(checks, { ...place, latchkey });
    await keepEdits(checks, { ...place, latchkey });
  } finally {
    await latchkey.stop();
  }
}

/** Watches sign-in providers and the deployment in the browser. */
export async function checkAdminProviders(checks, { folder, relyingParty, ...place }) {
  const upstream = await UpstreamProvider.start();
  const latchkey = await Latchkey.start(folder, 'providers', watchedSettings(relyingParty.callback, upstream));
  await upstream.register(redirectUris(latchkey.base));
  try {
    await watchProviders(checks, { ...place, latchkey });
  } finally {
    await latchkey.stop();
    upstream.close();
  }
}

/** Invites users in the browser. */
export async function checkAdminInvitations(checks, { folder, relyingParty, ...place }) {
  const mails = await MailServer.listen();
  const latchkey = await Latchkey.start(folder, 'invitations', accountSettings(relyingParty.callback, mails.settings));
  try {
    await administerInvitations(checks, { ...place, latchkey, mails });
  } finally {
    await latchkey.stop();
    await mails.close();
  }
}

/** Manages an account in the account area. */
export async function checkAccountJourney(checks, { browser, folder, relyingParty }) {
  const mails = await MailServer.listen();
  const latchkey = await Latchkey.start(folder, 'account', accountSettings(relyingParty.callback, mails.settings));
  try {
    for (const username of ['lotte', 'tilda']) {
      await latchkey.command(['manage', 'register-user', '--yes', '--password-file', '-', username], PASSWORD);
    }
    await checks.that('a person looks after an account by keyboard', () =>
      lookAfterAccount({ browser, latchkey, mails, username: 'lotte' }),
    );
    await checks.that('the log names each operation of the account area', () => checkOperations(latchkey.logLines()));
  } finally {
    await latchkey.stop();
    await mails.close();
  }
}

/** Measures the account area of a user with a few sessions. */
export async function checkFirstPaint(checks, { browser, folder, relyingParty }) {
  const latchkey = await Latchkey.start(folder, 'paint', accountSettings(relyingParty.callback, { transport: 'file' }));
  const username = 'wilma';
  try {
    await latchkey.command(['manage', 'register-user', '--yes', '--password-file', '-', username], PASSWORD);
    for (const device of ['PHONE', 'TABLET', 'LAPTOP', 'DESKTOP', 'CAR', 'FRIDGE', 'WATCH']) {
      await latchkey.command(['manage', 'issue-compatibility-token', username, device]);
    }
    await checkPaint(checks, { browser, base: latchkey.base, username });
  } finally {
    await latchkey.stop();
  }
}

/** Opens the account area from chat clients. */
export async function checkChatAccountJourney(checks, { browser, folder, relyingParty }) {
  const { startStandInHomeserver } = await loadTypeScript('test/support/stand-in-homeserver/stand-in-homeserver.ts');
  const secret = 'shared-secret-of-the-journey';
  const homeserver = await startStandInHomeserver(secret);
  const latchkey = await Latchkey.start(
    folder,
    'chat-account',
    chatSettings(relyingParty.callback, homeserver, secret),
  );
  const { base } = latchkey;
  homeserver.state.service = base;
  try {
    for (const username of ['mira', 'nell', 'otis']) {
      await latchkey.command(['manage', 'register-user', '--yes', '--password-file', '-', username], PASSWORD);
    }
    await checks.that('chat clients lead a person to the account area, who does there what they need', () =>
      obeyChatClients({ browser, base, homeserver, username: 'mira' }),
    );
    await checks.that('people end their account for good, and the homeserver hears of it', () =>
      endAccounts({ browser, latchkey, homeserver, withPassword: 'nell', withoutPassword: 'otis' }),
    );
    await checks.that('the log names the end of an account', () =>
      checkOperations(latchkey.logLines(), ['DeactivateUser', 'AllowCrossSigningReset']),
    );
  } finally {
    await latchkey.stop();
    await homeserver.stop();
  }
}

/** Links and unlinks an account at another service in the account area. */
export async function checkLinkedAccounts(checks, { browser, folder, relyingParty }) {
  const upstream = await UpstreamProvider.start();
  const services = [suggestingService(upstream)];
  const latchkey = await Latchkey.start(folder, 'linked', upstreamSettings(relyingParty.callback, services));
  try {
    await upstream.register(redirectUris(latchkey.base));
    await latchkey.command(['manage', 'register-user', '--yes', '--password-file', '-', 'wanda'], PASSWORD);
    await checks.that('a person links an account elsewhere in the account area, and unlinks it', () =>
      linkAndUnlink({ browser, latchkey, username: 'wanda' }),
    );
    await checks.that('the log names the operations of linked accounts', () =>
      checkOperations(latchkey.logLines(), LINKED_OPERATIONS),
    );
  } finally {
    upstream.close();
    await latchkey.stop();
  }
}

/** Passkeys of a user. Browsers create them for a host name, not for an IP address. */
export async function checkPasskeys(checks, { browser, folder, relyingParty, pictures }) {
  const plain = settings(relyingParty.callback);
  const required = { ...plain, account: { ...plain.account, second_factor: 'required' } };
  const start = (name, all) => Latchkey.start(folder, name, all, 'localhost');
  let latchkey = await start('passkeys', plain);
  try {
    await latchkey.command(['manage', 'register-user', '--yes', '--password-file', '-', 'yara'], PASSWORD);
    await checks.that('a person lives with a passkey', () =>
      usePasskeys({
        ...{ browser, latchkey, username: 'yara', pictures },
        restart: async () => {
          await latchkey.stop();
          latchkey = await start('passkeys-required', required);
          return latchkey;
        },
      }),
    );
  } finally {
    await latchkey.stop();
  }
}

/** Registers, links and signs in through another service. */
export async function checkUpstreamJourneys(checks, { browser, folder, relyingParty }) {
  const upstream = await UpstreamProvider.start();
  const services = [suggestingService(upstream)];
  const latchkey = await Latchkey.start(folder, 'upstream', upstreamSettings(relyingParty.callback, services));
  try {
    await upstream.register(redirectUris(latchkey.base));
    await relyingParty.discover(latchkey.base);
    const expected = [];
    for (const [username, linkedName, javaScriptEnabled] of [
      ['pavo', 'quinn', true],
      ['rosa', 'sami', false],
    ]) {
      await latchkey.command(['manage', 'register-user', '--yes', '--password-file', '-', linkedName], PASSWORD);
      const how = { browser, base: latchkey.base, relyingParty, javaScriptEnabled };
      const scripts = `scripts ${javaScriptEnabled ? 'on' : 'off'}`;
      await checks.that(`a person registers through another service by keyboard (${scripts})`, async () => {
        expected.push(...(await registerThere({ ...how, username })));
      });
      await checks.that(`a person links an account elsewhere and signs in with it (${scripts})`, async () => {
        expected.push(...(await linkAndReturn({ ...how, username: linkedName })));
      });
    }
    await checks.that('the log tells each request of these journeys, in order, and who made it', async () => {
      await checkRequestLines(latchkey.logLines(), expected);
    });
  } finally {
    upstream.close();
    await latchkey.stop();
  }
}

/** Resets the password by mail. */
export async function checkRecovery(checks, { browser, folder, relyingParty, pictures }) {
  const mails = await MailServer.listen();
  const email = mails.settings;
  const latchkey = await Latchkey.start(folder, 'recovery', { ...settings(relyingParty.callback), email });
  try {
    for (const [username, locale] of [
      ['ines', 'en'],
      ['kamal', 'ar'],
    ]) {
      const options = ['--email', `${username}@mail.example`, '--password-file', '-'];
      await latchkey.command(['manage', 'register-user', '--yes', ...options, username], PASSWORD);
      const how = { browser, base: latchkey.base, mails, locale, username };
      const claim = `a person sets a new password by mail (${locale})`;
      let arrived = [];
      await checks.that(claim, async () => {
        arrived = await recover(how);
      });
      for (const [index, mail] of arrived.entries()) {
        const name = `${['recovery', 'password-changed'][index]}-${locale}`;
        await checks.that(`the mail ${name} can be read`, () => examineMail({ browser, mail, name, pictures }));
      }
    }
    await checks.that('the log names each operation of a recovery', () =>
      checkOperations(latchkey.logLines(), ['PasswordRecovery', 'RecoverPassword']),
    );
  } finally {
    await latchkey.stop();
    await mails.close();
  }
}

/** Registers through another service without any prompt, except to verify the address. */
export async function checkUnpromptedRegistration(checks, { browser, folder, relyingParty }) {
  const mails = await MailServer.listen();
  const upstream = await UpstreamProvider.start();
  const all = unpromptedSettings(relyingParty.callback, [unpromptedService(upstream)], mails.settings);
  const latchkey = await Latchkey.start(folder, 'unprompted', all);
  try {
    await upstream.register(redirectUris(latchkey.base));
    const how = { browser, latchkey, javaScriptEnabled: true };
    await checks.that('a person registers elsewhere without a question', async () => {
      await registerUnprompted({ ...how, login: 'tariq' });
    });
    for (const [login, javaScriptEnabled] of [
      ['ulla@unproven.example', true],
      ['vito@unproven.example', false],
    ]) {
      const scripts = `scripts ${javaScriptEnabled ? 'on' : 'off'}`;
      await checks.that(`and proves the address that was not proven there (${scripts})`, async () => {
        await registerUnprompted({ ...how, javaScriptEnabled, mails, login });
      });
    }
  } finally {
    upstream.close();
    await latchkey.stop();
    await mails.close();
  }
}

/**
 * Registers with a mailed code.
 * @param isByInvitation also requires a registration token
 */
export async function checkEmailRegistration(checks, { browser, folder, relyingParty, pictures }, isByInvitation) {
  const mails = await MailServer.listen();
  const name = isByInvitation ? 'registration-by-invitation' : 'registration';
  const latchkey = await Latchkey.start(
    folder,
    name,
    emailRegistrationSettings(relyingParty.callback, mails.settings, isByInvitation),
  );
  try {
    for (const [person, locale, javaScriptEnabled] of [
      ['lena', 'en', true],
      ['milo', 'en', false],
      ['nadia', 'ar', true],
      ['omar', 'ar', false],
    ]) {
      const username = isByInvitation ? `${person}-invited` : person;
      const token = isByInvitation ? `invitation-of-${person}` : undefined;
      if (token !== undefined) await latchkey.command(['manage', 'issue-user-registration-token', '--token', token]);
      const how = `${locale}, scripts ${javaScriptEnabled ? 'on' : 'off'}${isByInvitation ? ', by invitation' : ''}`;
      let arrived = [];
      await checks.that(`a person joins with a code of a mail (${how})`, async () => {
        arrived = await registerByEmail({ browser, latchkey, mails, locale, javaScriptEnabled, username, token });
      });
      // Both mails look the same, and so do those of the other runs.
      const [mail] = isByInvitation || !javaScriptEnabled ? [] : arrived;
      if (mail === undefined) continue;
      const picture = `verification-${locale}`;
      await checks.that(`the mail ${picture} can be read`, () =>
        examineMail({ browser, mail, name: picture, pictures }),
      );
    }
  } finally {
    await latchkey.stop();
    await mails.close();
  }
}
