import type { VNode } from 'preact';
import type { HealthFindings } from '../../api/documents.ts';
import { Responses, useResource } from '../../api/use-resource.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Time } from '../../components/time.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { type AdminKey, useTexts } from '../../i18n/translations.ts';

const HEALTH = new Responses<HealthFindings>();

type Finding = HealthFindings['data']['findings'][number];

const TITLES: Readonly<Record<Finding['code'], AdminKey>> = {
  access: 'admin.health.access',
  cleanup: 'admin.health.cleanup',
  client_ip: 'admin.health.client_ip',
  'compat.login': 'admin.health.homeserver',
  config: 'admin.health.config',
  database: 'admin.health.database',
  email: 'admin.health.email',
  embedded: 'admin.health.database',
  homeserver: 'admin.health.homeserver',
  'homeserver.secret': 'admin.health.homeserver',
  'homeserver.versions': 'admin.health.homeserver',
  'homeserver.wellknown': 'admin.health.homeserver',
  'homeserver.whoami': 'admin.health.homeserver',
  instances: 'admin.health.instances',
  issuer: 'admin.health.address',
  'listener.resources': 'admin.health.config',
  'listener.self': 'admin.health.address',
  'passwords.schemes': 'admin.health.passwords',
  public_base: 'admin.health.address',
  queue: 'admin.health.queue',
  'secrets.encryption': 'admin.health.keys',
  'secrets.files': 'admin.health.files',
  'secrets.keys': 'admin.health.keys',
  tls: 'admin.health.tls',
  upstream: 'admin.health.upstream',
  usernames: 'admin.health.usernames',
};

/** Problems of the deployment with their remedies, or one line that there are none. */
export function Health(): VNode {
  const { t } = useTexts();
  const health = useResource(HEALTH, 'health-findings');
  return (
    <section class="section">
      <h2>{t('admin.health.title')}</h2>
      <Loaded resource={health}>
        {({ data: { checked_at, findings } }) => {
          const problems = findings.filter(({ severity }) => severity === 'error' || severity === 'warning');
          return (
            <>
              {problems.length > 0 && (
                <ul class="findings">
                  {problems.map((finding) => (
                    <Problem key={`${finding.code} ${finding.subject} ${finding.message}`} finding={finding} />
                  ))}
                </ul>
              )}
              <p class="meta">
                {problems.length === 0 && `${t('admin.health.none')} `}
                {t('admin.health.checked')} <Time at={checked_at} />
              </p>
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

/** The texts are those of `latchkey doctor`, in English. */
function Problem({
  finding: { code, documentation, message, remedy, severity, subject },
}: {
  finding: Finding;
}): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  const isError = severity === 'error';
  const page = code === 'queue' ? 'jobs' : code === 'upstream' ? `providers/${subject}` : undefined;
  return (
    <li class="card finding">
      <h3>
        <span class={isError ? 'badge badge-danger' : 'badge badge-warning'}>
          {t(isError ? 'admin.health.error' : 'admin.health.warning')}
        </span>{' '}
        {page === undefined ? t(TITLES[code]) : <a href={root + page}>{t(TITLES[code])}</a>}
      </h3>
      <p lang="en" dir="ltr">
        {sentence(message)}
      </p>
      {remedy !== null && (
        <p lang="en" dir="ltr">
          {remedy}
        </p>
      )}
      <p class="meta">
        {t('admin.health.manual')} <code dir="ltr">{documentation}</code>
      </p>
    </li>
  );
}

/** Messages start in lower case, as in a terminal, or with the name of a setting. */
function sentence(message: string): string {
  return message.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase());
}
