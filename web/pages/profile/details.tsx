import type { VNode } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { useAction } from '../../api/action.ts';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/choice-fields.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { DialogButtons } from '../../components/dialog-buttons.tsx';
import { FactRow } from '../../components/facts.tsx';
import { TextField } from '../../components/fields.tsx';
import { Form, useForm } from '../../components/form.tsx';
import { ProblemNotice } from '../../components/states.tsx';
import { useAnnounce } from '../../frame/announcements.tsx';
import { type AreaKey, useTranslations } from '../../i18n/translations.ts';
import { SetProfile, type UserProfileData } from './profile.generated.ts';

type User = Extract<UserProfileData['viewer'], { __typename: 'User' }>;

const FORM = 'profile-details';
const MAX_CHARACTERS = 255;

/** Rows with what users enter about themselves. */
export function DetailRows({ user }: { user: User }): VNode {
  const { t, language } = useTranslations();
  return (
    <>
      <OptionalRow name={t('account.details.given_name')} text={user.givenName} />
      <OptionalRow name={t('account.details.family_name')} text={user.familyName} />
      <FactRow name={t('account.details.language')}>
        {nameOfLanguage(user.languageChosen && user.language !== null ? user.language : language)}
      </FactRow>
      <OptionalRow name={t('account.details.time_zone')} text={user.timeZone && nameOfTimeZone(user.timeZone)} />
    </>
  );
}

function OptionalRow({ name, text }: { name: string; text: string | null }): VNode {
  const { t } = useTranslations();
  return (
    <FactRow name={name}>
      {text === null ? <span class="meta">{t('account.details.not_set')}</span> : <bdi>{text}</bdi>}
    </FactRow>
  );
}

/** The button that opens the form. */
export function EditDetails({
  user,
  languages,
  mayChange,
}: {
  user: User;
  languages: readonly string[];
  /** Names and time zone; the language is always the user's choice. */
  mayChange: boolean;
}): VNode {
  const { t } = useTranslations();
  const [isEditing, setEditing] = useState(false);
  return (
    <>
      <Button kind="secondary" onClick={() => setEditing(true)}>
        {t('account.details.edit')}
      </Button>
      {isEditing && <DetailsDialog {...{ user, languages, mayChange }} onClose={() => setEditing(false)} />}
    </>
  );
}

const REFUSALS: Readonly<Record<string, readonly [string, AreaKey]>> = {
  INVALID_GIVEN_NAME: ['given_name', 'account.display_name.invalid'],
  INVALID_FAMILY_NAME: ['family_name', 'account.display_name.invalid'],
  INVALID_TIME_ZONE: ['time_zone', 'account.details.time_zone_invalid'],
  INVALID_LANGUAGE: ['language', 'account.details.language_invalid'],
};

function DetailsDialog({
  user,
  languages,
  mayChange,
  onClose,
}: {
  user: User;
  languages: readonly string[];
  mayChange: boolean;
  onClose: () => void;
}): VNode {
  const { t } = useTranslations();
  const announce = useAnnounce();
  const before = {
    given_name: user.givenName ?? '',
    family_name: user.familyName ?? '',
    language: (user.languageChosen ? user.language : null) ?? '',
    // A first visit proposes the zone of the browser.
    time_zone: user.timeZone ?? (mayChange ? browserTimeZone() : ''),
  };
  const form = useForm(before);
  const { given_name: givenName, family_name: familyName, language, time_zone: timeZone } = form.values;
  const kept = useMemo(() => ({ name: FORM, values: form.values }), [form.values]);
  const { run, isPending, problem } = useAction(SetProfile, kept);
  const zones = useMemo(() => timeZones(user.timeZone), [user.timeZone]);
  const submit = async () => {
    const status = (
      await run({
        userId: user.id,
        ...(language !== before.language && { language: orNull(language) }),
        ...(mayChange && {
          givenName: orNull(givenName),
          familyName: orNull(familyName),
          timeZone: orNull(timeZone),
        }),
      })
    )?.setProfile.status;
    if (status === undefined) return;
    const [field, text] = REFUSALS[status] ?? ['given_name', 'account.problem.general'];
    if (status !== 'SET') return form.reject({ [field]: t(text) });
    // The server shows the page in the chosen language, and remembers it in this browser.
    if (language !== before.language && language !== '') location.search = `?ui_locales=${language}`;
    onClose();
    announce(t('account.details.saved'));
  };
  return (
    <Dialog title={t('account.details.edit')} isPending={isPending} onClose={onClose}>
      <p class="meta">{t('account.details.hint')}</p>
      <Form isPending={isPending} onSubmit={submit}>
        <ProblemNotice problem={problem} />
        {mayChange && (
          <>
            <TextField
              name="given_name"
              label={t('account.details.given_name')}
              autocomplete="given-name"
              maxLength={MAX_CHARACTERS}
              value={givenName}
              error={form.errors.given_name}
              onInput={(value) => form.set('given_name', value)}
            />
            <TextField
              name="family_name"
              label={t('account.details.family_name')}
              autocomplete="family-name"
              maxLength={MAX_CHARACTERS}
              value={familyName}
              error={form.errors.family_name}
              onInput={(value) => form.set('family_name', value)}
            />
          </>
        )}
        <SelectField
          name="language"
          label={t('account.details.language')}
          hint={t('account.details.language_hint')}
          options={[
            { value: '', text: t('account.details.language_auto') },
            ...languages.map((tag) => ({ value: tag, text: nameOfLanguage(tag) })),
          ]}
          value={language}
          error={form.errors.language}
          onInput={(value) => form.set('language', value)}
        />
        {mayChange && (
          <SelectField
            name="time_zone"
            label={t('account.details.time_zone')}
            options={[
              { value: '', text: t('account.details.time_zone_none') },
              ...zones.map((zone) => ({ value: zone, text: nameOfTimeZone(zone) })),
            ]}
            value={timeZone}
            error={form.errors.time_zone}
            onInput={(value) => form.set('time_zone', value)}
          />
        )}
        <DialogButtons isPending={isPending} onClose={onClose}>
          <Button isPending={isPending}>{t('account.save')}</Button>
        </DialogButtons>
      </Form>
    </Dialog>
  );
}

function orNull(text: string): string | null {
  return text.trim() === '' ? null : text.trim();
}

/** Returns the name of a language in that language, so that its readers recognize it. */
function nameOfLanguage(tag: string): string {
  return new Intl.DisplayNames([tag], { type: 'language' }).of(tag) ?? tag;
}

function nameOfTimeZone(zone: string): string {
  return zone.replaceAll('_', ' ');
}

function browserTimeZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Returns the zones that the browser knows, with the stored one. */
function timeZones(stored: string | null): readonly string[] {
  const own = [...(stored === null ? [] : [stored]), browserTimeZone()];
  return [...new Set([...Intl.supportedValuesOf('timeZone'), ...own])].sort();
}
