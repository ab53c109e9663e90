import { apache } from './programs/apache.ts';
import { argoCd } from './programs/argo-cd.ts';
import { audiobookshelf } from './programs/audiobookshelf.ts';
import { bookstack } from './programs/bookstack.ts';
import { elementAdmin, ketesa } from './programs/consoles.ts';
import { dex } from './programs/dex.ts';
import { discourse } from './programs/discourse.ts';
import { forgejo, gitea } from './programs/gitea.ts';
import { gitlab } from './programs/gitlab.ts';
import { grafana } from './programs/grafana.ts';
import { harbor } from './programs/harbor.ts';
import { headscale } from './programs/headscale.ts';
import { hedgedoc } from './programs/hedgedoc.ts';
import { homeAssistant } from './programs/home-assistant.ts';
import { immich } from './programs/immich.ts';
import { jellyfin } from './programs/jellyfin.ts';
import { jupyterhub } from './programs/jupyterhub.ts';
import { keycloak } from './programs/keycloak.ts';
import { kubernetes } from './programs/kubernetes.ts';
import { mastodon } from './programs/mastodon.ts';
import { mcp } from './programs/mcp.ts';
import { mealie } from './programs/mealie.ts';
import { miniflux } from './programs/miniflux.ts';
import { minio } from './programs/minio.ts';
import { nextcloud } from './programs/nextcloud.ts';
import { oauth2Proxy } from './programs/oauth2-proxy.ts';
import { openWebui } from './programs/open-webui.ts';
import { outline } from './programs/outline.ts';
import { paperlessNgx } from './programs/paperless-ngx.ts';
import { pgadmin } from './programs/pgadmin.ts';
import { portainer } from './programs/portainer.ts';
import type { Preset } from './programs/preset.ts';
import { proxmox } from './programs/proxmox.ts';
import { roundcube } from './programs/roundcube.ts';
import { springBoot } from './programs/spring-boot.ts';
import { synapse } from './programs/synapse.ts';
import { vaultwarden } from './programs/vaultwarden.ts';
import { vikunja } from './programs/vikunja.ts';
import { weblate } from './programs/weblate.ts';
import { wordpress } from './programs/wordpress.ts';

/** All presets, sorted by name. */
export const CLIENT_PRESETS: readonly Preset[] = [
  apache,
  argoCd,
  audiobookshelf,
  bookstack,
  dex,
  discourse,
  elementAdmin,
  forgejo,
  gitea,
  gitlab,
  grafana,
  harbor,
  headscale,
  hedgedoc,
  homeAssistant,
  immich,
  jellyfin,
  jupyterhub,
  ketesa,
  keycloak,
  kubernetes,
  mastodon,
  mcp,
  mealie,
  miniflux,
  minio,
  nextcloud,
  oauth2Proxy,
  openWebui,
  outline,
  paperlessNgx,
  pgadmin,
  portainer,
  proxmox,
  roundcube,
  springBoot,
  synapse,
  vaultwarden,
  vikunja,
  weblate,
  wordpress,
].toSorted((one, other) => one.name.localeCompare(other.name, 'en'));

const bySlug = new Map(CLIENT_PRESETS.map((preset) => [preset.slug, preset]));

export function findPreset(slug: string): Preset | undefined {
  return bySlug.get(slug);
}
