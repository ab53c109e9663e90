/** Samples of the pages that all features share. */
import { ERROR_CODES } from '#vocabulary/errors.ts';
import { type DeadSessionKind, DeadSessionPage, deadSessionTitle } from './dead-session-page.tsx';
import { ProblemPage, problemTitle } from './error-format.tsx';
import { pageSample, SAMPLE_ACTION } from './sample.ts';

const DEAD: readonly DeadSessionKind[] = ['ended', 'locked', 'deactivated'];

export const samples = [
  ...ERROR_CODES.map((code) =>
    pageSample(`problem-${code.replaceAll('_', '-')}`, ({ translations, text }) => ({
      title: problemTitle(translations, code),
      content: (
        <ProblemPage
          translations={translations}
          problem={{
            code,
            requestId: 'POST-71',
            description: text,
            link: { kind: 'home', href: '/' },
            alternativePath: code === 'upstream_unavailable' ? '/login' : undefined,
          }}
        />
      ),
    })),
  ),
  ...DEAD.map((kind) =>
    pageSample(`session-${kind}`, ({ translations, token, text }) => ({
      title: deadSessionTitle(translations, kind),
      content: (
        <DeadSessionPage
          translations={translations}
          kind={kind}
          username={text}
          logoutPath="/logout"
          csrf={token}
          action={SAMPLE_ACTION}
        />
      ),
    })),
  ),
];
