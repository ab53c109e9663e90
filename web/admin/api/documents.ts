/** Documents of the admin API (operations 4.2), as far as the pages show them. */

export interface Resource<Attributes> {
  readonly id: string;
  readonly attributes: Attributes;
}

export interface Single<Attributes> {
  readonly data: Resource<Attributes>;
}

export interface List<Attributes> {
  readonly data: readonly Resource<Attributes>[];
  readonly links: { readonly next?: string; readonly prev?: string };
}

/** The response with `count=only`. */
export interface Count {
  readonly meta: { readonly count: number };
}

export interface User {
  readonly username: string;
  readonly created_at: string;
  readonly locked_at: string | null;
  readonly deactivated_at: string | null;
  readonly admin: boolean;
}

export interface UserEmail {
  readonly email: string;
  readonly primary: boolean;
}

export interface UserGroups {
  readonly groups: readonly string[];
  readonly upstream: readonly { readonly provider_id: string; readonly groups: readonly string[] }[];
}

export interface UpstreamLink {
  readonly provider_id: string;
  readonly subject: string;
  readonly human_account_name: string | null;
}

export interface UpstreamProvider {
  readonly human_name: string | null;
  readonly issuer: string | null;
}
