// Written by scripts/generate-reference.js from the operations of the admin API.

/** `attributes` of objects, by the first operation that returns them. */
export interface Attributes {
  readonly listUsers: {
    readonly username: string;
    readonly display_name: string | null;
    readonly email: string | null;
    readonly created_at: string;
    readonly locked_at: string | null;
    readonly deactivated_at: string | null;
    readonly admin: boolean;
    readonly legacy_guest: boolean;
  };
  readonly getUserDetails: {
    readonly given_name: string | null;
    readonly family_name: string | null;
    readonly time_zone: string | null;
    readonly language: string | null;
    readonly has_password: boolean;
    readonly authenticator_app: {
      readonly created_at: string;
      readonly last_used_at: string | null;
    } | null;
    readonly recovery_codes: {
      readonly total: number;
      readonly remaining: number;
    };
    readonly passkeys: readonly {
      readonly id: string;
      readonly name: string;
      readonly created_at: string;
      readonly last_used_at: string | null;
    }[];
    readonly groups: readonly string[];
    readonly linked_accounts: number;
    readonly accepted_terms: readonly {
      readonly uri: string;
      readonly accepted_at: string;
    }[];
    readonly sessions: {
      readonly browser: number;
      readonly oauth2: number;
      readonly compat: number;
      readonly personal: number;
    };
    readonly last_active_at: string | null;
  };
  readonly getUserGroups: {
    readonly groups: readonly string[];
    readonly upstream: readonly {
      readonly provider_id: string;
      readonly groups: readonly string[];
    }[];
    readonly effective: readonly string[];
  };
  readonly getUserClaims: {
    readonly claims: { readonly [name: string]: unknown };
  };
  readonly listGroups: {
    readonly name: string;
    readonly description: string | null;
    readonly created_at: string;
    readonly external: boolean;
    readonly member_count: number;
    readonly pending: 'renaming' | 'deleting' | null;
  };
  readonly getGroup: {
    readonly name: string;
    readonly description: string | null;
    readonly created_at: string;
    readonly external: boolean;
    readonly member_count: number;
    readonly pending: 'renaming' | 'deleting' | null;
    readonly clients: readonly {
      readonly id: string;
      readonly client_name: string | null;
      readonly kind: 'static' | 'managed' | 'dynamic' | 'builtin';
    }[];
  };
  readonly listUserEmails: {
    readonly created_at: string;
    readonly user_id: string;
    readonly email: string;
    readonly primary: boolean;
  };
  readonly listUserSessions: {
    readonly created_at: string;
    readonly finished_at: string | null;
    readonly user_agent: string | null;
    readonly last_active_at: string | null;
    readonly last_active_ip: string | null;
    readonly username: string | null;
    readonly user_id: string;
  };
  readonly listOAuth2Sessions: {
    readonly created_at: string;
    readonly finished_at: string | null;
    readonly user_agent: string | null;
    readonly last_active_at: string | null;
    readonly last_active_ip: string | null;
    readonly username: string | null;
    readonly user_id: string | null;
    readonly user_session_id: string | null;
    readonly client_id: string;
    readonly client_name: string | null;
    readonly parent_session_id: string | null;
    readonly scope: string;
    readonly human_name: string | null;
  };
  readonly listCompatSessions: {
    readonly created_at: string;
    readonly finished_at: string | null;
    readonly user_agent: string | null;
    readonly last_active_at: string | null;
    readonly last_active_ip: string | null;
    readonly username: string | null;
    readonly user_id: string;
    readonly device_id: string | null;
    readonly user_session_id: string | null;
    readonly redirect_uri: string | null;
    readonly human_name: string | null;
  };
  readonly listPersonalSessions: {
    readonly created_at: string;
    readonly revoked_at: string | null;
    readonly owner_user_id: string | null;
    readonly owner_client_id: string | null;
    readonly actor_user_id: string;
    readonly human_name: string;
    readonly scope: string;
    readonly last_active_at: string | null;
    readonly last_active_ip: string | null;
    readonly expires_at: string | null;
  };
  readonly createPersonalSession: {
    readonly created_at: string;
    readonly revoked_at: string | null;
    readonly owner_user_id: string | null;
    readonly owner_client_id: string | null;
    readonly actor_user_id: string;
    readonly human_name: string;
    readonly scope: string;
    readonly last_active_at: string | null;
    readonly last_active_ip: string | null;
    readonly expires_at: string | null;
    readonly access_token: string;
  };
  readonly listUserRegistrationTokens: {
    readonly token: string;
    readonly valid: boolean;
    readonly usage_limit: number | null;
    readonly times_used: number;
    readonly created_at: string;
    readonly last_used_at: string | null;
    readonly expires_at: string | null;
    readonly revoked_at: string | null;
    readonly url: string;
    readonly email: string | null;
    readonly groups: readonly string[];
    readonly note: string | null;
    readonly created_by: string | null;
    readonly mail_queued_at: string | null;
    readonly mail_sent_at: string | null;
  };
  readonly listOAuth2Clients: {
    readonly client_id: string;
    readonly client_name: string | null;
    readonly client_uri: string | null;
    readonly logo_uri: string | null;
    readonly redirect_uris: readonly string[];
    readonly grant_types: readonly string[];
    readonly token_endpoint_auth_method: string;
    readonly kind: 'static' | 'managed' | 'dynamic' | 'builtin';
    readonly is_static: boolean;
    readonly preset: string | null;
    readonly access: 'everyone' | 'groups' | 'nobody';
    readonly allowed_groups: readonly string[];
    readonly created_at: string;
    readonly updated_at: string | null;
    readonly disabled_at: string | null;
    readonly last_used_at: string | null;
    readonly active_sessions: number;
  };
  readonly getOAuth2Client: {
    readonly client_id: string;
    readonly client_name: string | null;
    readonly client_uri: string | null;
    readonly logo_uri: string | null;
    readonly redirect_uris: readonly string[];
    readonly grant_types: readonly string[];
    readonly token_endpoint_auth_method: string;
    readonly kind: 'static' | 'managed' | 'dynamic' | 'builtin';
    readonly is_static: boolean;
    readonly preset: string | null;
    readonly access: 'everyone' | 'groups' | 'nobody';
    readonly allowed_groups: readonly string[];
    readonly created_at: string;
    readonly updated_at: string | null;
    readonly disabled_at: string | null;
    readonly last_used_at: string | null;
    readonly active_sessions: number;
    readonly overridden: readonly ('client_name' | 'logo_uri')[];
    readonly secrets: readonly {
      readonly current: boolean;
      readonly created_at: string | null;
      readonly last_used_at: string | null;
      readonly expires_at: string | null;
    }[];
    readonly [name: string]: unknown;
  };
  readonly connectOAuth2Client: {
    readonly issuer: string;
    readonly discovery_url: string;
    readonly authorization_endpoint: string;
    readonly token_endpoint: string;
    readonly userinfo_endpoint: string;
    readonly jwks_uri: string;
    readonly end_session_endpoint: string;
    readonly device_authorization_endpoint: string | null;
    readonly client_id: string;
    readonly client_auth_method: string;
    readonly has_secret: boolean;
    readonly code_challenge_method: 'S256';
    readonly scopes: readonly string[];
    readonly groups_claim: 'groups' | null;
    readonly redirect_uris: readonly string[];
    readonly post_logout_redirect_uris: readonly string[];
    readonly id_token_signed_response_alg: string;
    readonly preset: string | null;
    readonly program: string | null;
    readonly steps: readonly ({
      readonly kind: 'text';
      readonly text: string;
    } | {
      readonly kind: 'fields';
      readonly fields: readonly {
        readonly label: string;
        readonly value: string;
      }[];
    } | {
      readonly kind: 'file';
      readonly name: string;
      readonly language: string;
      readonly content: string;
    } | {
      readonly kind: 'command';
      readonly content: string;
    })[];
  };
  readonly testOAuth2Client: {
    readonly findings: readonly {
      readonly code: 'address_not_allowed' | 'busy' | 'client_disabled' | 'keys_missing' | 'logo_not_image' | 'logos_off' | 'logout_refused' | 'logout_unchecked' | 'name_unknown' | 'not_reachable' | 'ok' | 'redirect_uri_insecure' | 'redirect_uri_native' | 'redirect_uri_of_service' | 'redirect_uri_with_secret' | 'redirect_uris_missing' | 'redirected' | 'sector_incomplete' | 'timeout' | 'too_large' | 'unreadable' | 'url_not_allowed' | 'wrong_status';
      readonly status: 'ok' | 'warning' | 'error';
      readonly member: string;
      readonly url: string | null;
      readonly message: string;
      readonly remedy: string;
    }[];
  };
  readonly listClientPresets: {
    readonly slug: string;
    readonly name: string;
    readonly category: 'proxy' | 'infrastructure' | 'monitoring' | 'code' | 'files' | 'documents' | 'media' | 'chat' | 'community' | 'passwords' | 'home' | 'ai' | 'data' | 'library';
    readonly url: {
      readonly example: string;
      readonly note: string | null;
    } | null;
    readonly registers_itself: boolean;
    readonly client: {
      readonly client_auth_method: string;
      readonly application_type?: string;
      readonly redirect_uris: readonly string[];
      readonly post_logout_redirect_uris?: readonly string[];
      readonly backchannel_logout_uri?: string;
      readonly grant_types?: readonly string[];
    };
    readonly scopes: readonly string[];
    readonly groups: string | null;
    readonly steps: readonly ({
      readonly kind: 'text';
      readonly text: string;
    } | {
      readonly kind: 'fields';
      readonly fields: readonly {
        readonly label: string;
        readonly value: string;
      }[];
    } | {
      readonly kind: 'file';
      readonly name: string;
      readonly language: string;
      readonly content: string;
    } | {
      readonly kind: 'command';
      readonly content: string;
    })[];
    readonly sign_out: {
      readonly from_program: string;
      readonly from_service: string;
    };
    readonly notes: readonly {
      readonly topic: string;
      readonly text: string;
    }[];
    readonly checked: {
      readonly how: 'tested';
      readonly with: 'program' | 'library';
      readonly name: string;
      readonly version: string;
      readonly test: string;
    } | {
      readonly how: 'documentation';
      readonly url: string;
      readonly on: string;
    };
  };
  readonly listUpstreamOAuthLinks: {
    readonly created_at: string;
    readonly provider_id: string;
    readonly subject: string;
    readonly user_id: string | null;
    readonly username: string | null;
    readonly human_account_name: string | null;
  };
  readonly listUpstreamOAuthProviders: {
    readonly issuer: string | null;
    readonly human_name: string | null;
    readonly brand_name: string | null;
    readonly created_at: string;
    readonly disabled_at: string | null;
    readonly registration_token_required: boolean;
    readonly state: 'working' | 'failing' | 'unknown' | 'disabled' | 'removed';
    readonly linked_users: number;
    readonly discovery: {
      readonly url: string | null;
      readonly fetched_at: string | null;
    };
    readonly keys: {
      readonly needed: boolean;
      readonly fetched_at: string | null;
      readonly types: readonly {
        readonly type: string;
        readonly count: number;
      }[];
    };
    readonly last_success_at: string | null;
    readonly last_error: {
      readonly code: string;
      readonly at: string;
      readonly message: string;
      readonly remedy: string;
      readonly is_current: boolean;
    } | null;
  };
  readonly listAuditEvents: {
    readonly kind: string;
    readonly created_at: string;
    readonly user_id: string | null;
    readonly username: string | null;
    readonly actor: {
      readonly type: 'user' | 'admin' | 'operator' | 'system' | 'anonymous';
      readonly id: string | null;
      readonly username: string | null;
    };
    readonly client_id: string | null;
    readonly client_name: string | null;
    readonly session_id: string | null;
    readonly address: string | null;
    readonly user_agent: string | null;
    readonly outcome: 'ok' | 'failed';
    readonly operation: string | null;
    readonly target: {
      readonly type: string;
      readonly id: string;
      readonly name: string | null;
    } | null;
    readonly changed: readonly string[];
    readonly request_id: string | null;
    readonly detail: { readonly [name: string]: unknown };
  };
  readonly setPolicyData: {
    readonly data: { readonly [name: string]: unknown };
    readonly created_at: string;
  };
  readonly listPolicyData: {
    readonly created_at: string;
    readonly created_by: {
      readonly user_id: string | null;
      readonly username: string | null;
      readonly client_id: string | null;
    } | null;
  };
  readonly listJobs: {
    readonly queue: string;
    readonly status: 'available' | 'scheduled' | 'running' | 'failed' | 'dead';
    readonly attempt: number;
    readonly created_at: string;
    readonly scheduled_at: string | null;
    readonly failed_at: string | null;
    readonly failed_reason: string | null;
    readonly queued_by: string | null;
    readonly started_at: null;
    readonly completed_at: null;
    readonly next_attempt_id: null;
    readonly payload: unknown;
  };
}

/** `meta` of responses with one object. */
export interface Metas {
  readonly createOAuth2Client: {
    readonly client_secret: string;
  };
}

/** Bodies of other responses. */
export interface Bodies {
  readonly siteConfig: {
    readonly server_name: string;
    readonly password_login_enabled: boolean;
    readonly password_registration_enabled: boolean;
    readonly password_registration_email_required: boolean;
    readonly password_registration_token_required: boolean;
    readonly registration_token_required: boolean;
    readonly email_change_allowed: boolean;
    readonly displayname_change_allowed: boolean;
    readonly password_change_allowed: boolean;
    readonly account_recovery_allowed: boolean;
    readonly account_deactivation_allowed: boolean;
    readonly captcha_enabled: boolean;
    readonly minimum_password_complexity: number;
  };
  readonly version: {
    readonly version: string;
  };
  readonly getEffectiveConfiguration: {
    readonly data: {
      readonly process: string;
      readonly read_at: string;
      readonly files: readonly string[];
      readonly restart_required: readonly string[];
      readonly processes: readonly {
        readonly name: string;
        readonly version: string;
        readonly last_seen_at: string;
        readonly same_configuration: boolean;
      }[];
      readonly settings: readonly {
        readonly key: string;
        readonly name: string;
        readonly value: unknown;
        readonly source: {
          readonly kind: 'default' | 'file' | 'environment' | 'flag' | 'generated';
          readonly name: string | null;
          readonly line: number | null;
        };
        readonly differs: boolean;
        readonly restart_required: boolean;
      }[];
      readonly sections: readonly {
        readonly name: string;
        readonly description: string | null;
        readonly documentation: string;
        readonly keys: readonly {
          readonly name: string;
          readonly type: string;
          readonly default: string;
          readonly meaning: string;
          readonly secret: boolean;
          readonly applies_after: 'reload' | 'restart';
        }[];
      }[];
    };
  };
  readonly listHealthFindings: {
    readonly data: {
      readonly checked_at: string;
      readonly findings: readonly {
        readonly code: 'config' | 'secrets.files' | 'listener.resources' | 'database' | 'embedded' | 'secrets.encryption' | 'instances' | 'queue' | 'cleanup' | 'passwords.schemes' | 'usernames' | 'access' | 'client_ip' | 'public_base' | 'issuer' | 'listener.self' | 'secrets.keys' | 'email' | 'homeserver' | 'homeserver.wellknown' | 'homeserver.versions' | 'homeserver.whoami' | 'homeserver.secret' | 'compat.login' | 'upstream' | 'tls';
        readonly subject: string | null;
        readonly severity: 'error' | 'warning' | 'ok' | 'skipped';
        readonly message: string;
        readonly remedy: string | null;
        readonly documentation: string;
      }[];
    };
  };
  readonly killUserSessions: {
    readonly meta: {
      readonly browser: number;
      readonly oauth2: number;
      readonly compat: number;
      readonly personal: number;
    };
  };
  readonly createRecoveryLink: {
    readonly meta: {
      readonly url: string | null;
      readonly expires_at: string | null;
    };
  };
  readonly bulkUsers: {
    readonly meta: {
      readonly changed: number;
    };
  };
  readonly addGroupUsers: {
    readonly meta: {
      readonly added: number;
      readonly already: number;
    };
  };
  readonly getStatisticsOverview: {
    readonly data: {
      readonly at: string;
      readonly users: {
        readonly active: number;
        readonly locked: number;
        readonly deactivated: number;
      };
      readonly sessions: {
        readonly browser: number;
        readonly oauth2: number;
        readonly compat: number;
        readonly personal: number;
      };
      readonly clients: {
        readonly static: number;
        readonly managed: number;
        readonly dynamic: number;
      };
      readonly jobs: {
        readonly waiting: number;
        readonly failed: number;
      };
      readonly active_users: {
        readonly today: number;
        readonly last_7_days: number;
        readonly last_30_days: number;
      };
      readonly complete_until: string | null;
    };
  };
  readonly getStatisticsSeries: {
    readonly data: {
      readonly metric: 'sign_ins' | 'sign_in_failures' | 'registrations' | 'tokens_issued' | 'active_users' | 'active_users_7d' | 'active_users_30d' | 'second_factor_share';
      readonly step: 'day' | 'hour';
      readonly since: string;
      readonly until: string;
      readonly points: readonly {
        readonly at: string;
        readonly value: number | null;
      }[];
    };
  };
  readonly validatePolicyData: {
    readonly data: {
      readonly valid: boolean;
      readonly problem: {
        readonly pointer: string;
        readonly message: string;
      } | null;
      readonly warnings: readonly {
        readonly code: 'locks_out_caller' | 'bans_caller' | 'unknown_user' | 'respelled_user' | 'unknown_client';
        readonly pointer: string;
        readonly subject: string;
      }[];
    };
  };
}
