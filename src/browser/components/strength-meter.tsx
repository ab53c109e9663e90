import type { VNode } from 'preact';
import type { MessageKey, Translations } from '../i18n/translations.ts';

/** What a new password is compared with. */
export interface StrengthRules {
  /** zxcvbn score, 0 to 4. */
  readonly minimumScore: number;
  /** In characters. */
  readonly minimumLength: number;
  /** As easy to guess as the username. */
  readonly serviceName: string;
}

const WORDS = ['strength.0', 'strength.1', 'strength.2', 'strength.3', 'strength.4'] as const satisfies MessageKey[];

/**
 * Shows how hard a new password is to guess while the user types (browser-flows 5.7). Hidden until `strength.js` runs
 * on a page with `hasNewPassword`. Without it, the field's hint shows the rules. The meter rejects nothing.
 */
export function StrengthMeter({
  translations,
  passwordName,
  usernameName,
  rules,
}: {
  translations: Translations;
  /** Names of the inputs. */
  passwordName: string;
  usernameName: string;
  rules: StrengthRules;
}): VNode {
  const words = WORDS.map((key, score) => {
    const strength = translations.t(key);
    return score < rules.minimumScore ? translations.t('strength.not_enough', { strength }) : strength;
  });
  return (
    <div
      class="strength"
      hidden
      data-password={passwordName}
      data-username={usernameName}
      data-service-name={rules.serviceName}
      data-minimum-score={rules.minimumScore}
      data-minimum-length={rules.minimumLength}
      data-words={JSON.stringify(words)}
      data-too-short={translations.t('strength.too_short')}
      data-common={translations.t('strength.common')}
    >
      <div class="strength-bar" {...meter(translations.t('strength.label'))}>
        <span />
      </div>
      <p class="hint" aria-live="polite" />
    </div>
  );
}

// Not the `meter` element, because each browser draws it differently.
function meter(label: string) {
  return {
    role: 'meter',
    'aria-label': label,
    'aria-valuemin': 0,
    'aria-valuemax': WORDS.length - 1,
    'aria-valuenow': 0,
  } as const;
}
