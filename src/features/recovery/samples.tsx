import type { FormProblem } from '#browser/components/form.tsx';
import { pageSample, sampleCaptcha } from '#browser/sample.ts';
import { ProgressPage } from './progress.tsx';
import { RecoverPage } from './recover.tsx';
import { MessagePage } from './recovery-deps.tsx';

const MESSAGE = {
  title: 'recover.closed.title',
  text: 'recover.closed.text',
  link: { text: 'recover.start_over', href: '/recover' },
} as const;

const FORM = { path: '/recover', problems: [] } as const;

export const samples = [
  pageSample('recover', ({ translations, token, text }) => ({
    title: translations.t('recover.title'),
    captcha: sampleCaptcha(text).widget,
    content: (
      <RecoverPage
        translations={translations}
        loginPath="/login"
        form={{ ...FORM, csrf: token, email: text, captcha: sampleCaptcha(text) }}
      />
    ),
  })),
  pageSample('recover-rejected', ({ translations, token, text }) => {
    const problems: readonly FormProblem[] = [{ code: 'invalid', field: 'email', message: text }];
    return {
      title: translations.t('recover.title'),
      isRejected: true,
      content: (
        <RecoverPage
          translations={translations}
          loginPath="/login"
          form={{ ...FORM, csrf: token, email: text, captcha: undefined, problems }}
        />
      ),
    };
  }),
  pageSample('recover-progress', ({ translations, token, text }) => ({
    title: translations.t('recover.progress.title'),
    content: (
      <ProgressPage
        translations={translations}
        email={text}
        minutes={10}
        notice="email_sent"
        form={{ ...FORM, csrf: token }}
        recoverPath="/recover"
      />
    ),
  })),
  pageSample('recover-closed', ({ translations }) => ({
    title: translations.t(MESSAGE.title),
    content: <MessagePage translations={translations} message={MESSAGE} />,
  })),
];
