// Written by scripts/generate-reference.js from sessions.graphql.
import { gql, type TypedDocumentNode } from '@urql/core';

export type UserAgentParts = { readonly name: string | null; readonly os: string | null; readonly model: string | null; readonly deviceType: 'MOBILE' | 'PC' | 'TABLET' | 'UNKNOWN' };

export type BrowserSessionCard = { readonly __typename: 'BrowserSession'; readonly id: string; readonly createdAt: string; readonly lastActiveAt: string | null; readonly lastActiveIp: string | null; readonly isCurrent: boolean; readonly userAgent: { readonly name: string | null; readonly os: string | null; readonly model: string | null; readonly deviceType: 'MOBILE' | 'PC' | 'TABLET' | 'UNKNOWN' } | null };

export type AppSessionCard = { readonly __typename: 'CompatSession'; readonly id: string; readonly createdAt: string; readonly lastActiveAt: string | null; readonly lastActiveIp: string | null; readonly humanName: string | null; readonly deviceId: string | null; readonly userAgent: { readonly name: string | null; readonly os: string | null; readonly model: string | null; readonly deviceType: 'MOBILE' | 'PC' | 'TABLET' | 'UNKNOWN' } | null; readonly ssoLogin: { readonly id: string; readonly redirectUri: string } | null } | { readonly __typename: 'Oauth2Session'; readonly id: string; readonly createdAt: string; readonly lastActiveAt: string | null; readonly lastActiveIp: string | null; readonly humanName: string | null; readonly deviceId: string | null; readonly userAgent: { readonly name: string | null; readonly os: string | null; readonly model: string | null; readonly deviceType: 'MOBILE' | 'PC' | 'TABLET' | 'UNKNOWN' } | null; readonly client: { readonly id: string; readonly clientId: string; readonly clientName: string | null; readonly applicationType: 'NATIVE' | 'WEB' | null; readonly logoUri: string | null } };

export type SessionsOverviewData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly browserSessions: { readonly totalCount: number }; readonly appSessions: { readonly totalCount: number } }; readonly siteConfig: { readonly id: string; readonly sessionLimit: { readonly softLimit: number; readonly hardLimit: number } | null } };

export type SessionsOverviewVariables = { readonly [name: string]: never };

export const SessionsOverview: TypedDocumentNode<SessionsOverviewData, SessionsOverviewVariables> = /* @__PURE__ */ gql(
  "query SessionsOverview{viewer{__typename ...on User{id browserSessions(state:ACTIVE first:0){totalCount}appSessions(state:ACTIVE first:0){totalCount}}}siteConfig{id sessionLimit{softLimit hardLimit}}}",
);

export type AppSessionsListData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly appSessions: { readonly nodes: readonly ({ readonly __typename: 'CompatSession'; readonly id: string; readonly createdAt: string; readonly lastActiveAt: string | null; readonly lastActiveIp: string | null; readonly humanName: string | null; readonly deviceId: string | null; readonly userAgent: { readonly name: string | null; readonly os: string | null; readonly model: string | null; readonly deviceType: 'MOBILE' | 'PC' | 'TABLET' | 'UNKNOWN' } | null; readonly ssoLogin: { readonly id: string; readonly redirectUri: string } | null } | { readonly __typename: 'Oauth2Session'; readonly id: string; readonly createdAt: string; readonly lastActiveAt: string | null; readonly lastActiveIp: string | null; readonly humanName: string | null; readonly deviceId: string | null; readonly userAgent: { readonly name: string | null; readonly os: string | null; readonly model: string | null; readonly deviceType: 'MOBILE' | 'PC' | 'TABLET' | 'UNKNOWN' } | null; readonly client: { readonly id: string; readonly clientId: string; readonly clientName: string | null; readonly applicationType: 'NATIVE' | 'WEB' | null; readonly logoUri: string | null } })[]; readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly startCursor: string | null; readonly endCursor: string | null } } } };

export type AppSessionsListVariables = { readonly first?: number | null | undefined; readonly after?: string | null | undefined; readonly last?: number | null | undefined; readonly before?: string | null | undefined; readonly lastActive?: { readonly after?: string | null | undefined; readonly before?: string | null | undefined } | null | undefined };

export const AppSessionsList: TypedDocumentNode<AppSessionsListData, AppSessionsListVariables> = /* @__PURE__ */ gql(
  "query AppSessionsList($first:Int$after:String$last:Int$before:String$lastActive:DateFilter){viewer{__typename ...on User{id appSessions(state:ACTIVE first:$first after:$after last:$last before:$before lastActive:$lastActive){nodes{...AppSessionCard}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}}}fragment AppSessionCard on AppSession{__typename ...on CompatSession{id createdAt lastActiveAt lastActiveIp humanName deviceId userAgent{...UserAgentParts}ssoLogin{id redirectUri}}...on Oauth2Session{id createdAt lastActiveAt lastActiveIp humanName deviceId userAgent{...UserAgentParts}client{id clientId clientName applicationType logoUri}}}fragment UserAgentParts on UserAgent{name os model deviceType}",
);

export type BrowserSessionListData = { readonly viewer: { readonly __typename: 'Anonymous' } | { readonly __typename: 'User'; readonly id: string; readonly browserSessions: { readonly nodes: readonly ({ readonly __typename: 'BrowserSession'; readonly id: string; readonly createdAt: string; readonly lastActiveAt: string | null; readonly lastActiveIp: string | null; readonly isCurrent: boolean; readonly userAgent: { readonly name: string | null; readonly os: string | null; readonly model: string | null; readonly deviceType: 'MOBILE' | 'PC' | 'TABLET' | 'UNKNOWN' } | null })[]; readonly pageInfo: { readonly hasNextPage: boolean; readonly hasPreviousPage: boolean; readonly startCursor: string | null; readonly endCursor: string | null } } } };

export type BrowserSessionListVariables = { readonly first?: number | null | undefined; readonly after?: string | null | undefined; readonly last?: number | null | undefined; readonly before?: string | null | undefined; readonly lastActive?: { readonly after?: string | null | undefined; readonly before?: string | null | undefined } | null | undefined };

export const BrowserSessionList: TypedDocumentNode<BrowserSessionListData, BrowserSessionListVariables> = /* @__PURE__ */ gql(
  "query BrowserSessionList($first:Int$after:String$last:Int$before:String$lastActive:DateFilter){viewer{__typename ...on User{id browserSessions(state:ACTIVE first:$first after:$after last:$last before:$before lastActive:$lastActive){nodes{...BrowserSessionCard}pageInfo{hasNextPage hasPreviousPage startCursor endCursor}}}}}fragment BrowserSessionCard on BrowserSession{__typename id createdAt lastActiveAt lastActiveIp isCurrent userAgent{...UserAgentParts}}fragment UserAgentParts on UserAgent{name os model deviceType}",
);

export type SessionDetailData = { readonly viewer: { readonly __typename: 'Anonymous' | 'User' }; readonly node: { readonly __typename: 'other' } | { readonly __typename: 'BrowserSession'; readonly id: string; readonly createdAt: string; readonly lastActiveAt: string | null; readonly lastActiveIp: string | null; readonly isCurrent: boolean; readonly userAgent: { readonly name: string | null; readonly os: string | null; readonly model: string | null; readonly deviceType: 'MOBILE' | 'PC' | 'TABLET' | 'UNKNOWN'; readonly version: string | null; readonly osVersion: string | null; readonly raw: string } | null; readonly finishedAt: string | null; readonly lastAuthentication: { readonly id: string; readonly createdAt: string; readonly methods: readonly ('PASSKEY' | 'PASSWORD' | 'RECOVERY_CODE' | 'TOTP' | 'UPSTREAM')[] } | null } | { readonly __typename: 'CompatSession'; readonly id: string; readonly createdAt: string; readonly lastActiveAt: string | null; readonly lastActiveIp: string | null; readonly humanName: string | null; readonly deviceId: string | null; readonly userAgent: { readonly name: string | null; readonly os: string | null; readonly model: string | null; readonly deviceType: 'MOBILE' | 'PC' | 'TABLET' | 'UNKNOWN'; readonly version: string | null; readonly osVersion: string | null; readonly raw: string } | null; readonly ssoLogin: { readonly id: string; readonly redirectUri: string } | null; readonly finishedAt: string | null } | { readonly __typename: 'Oauth2Session'; readonly id: string; readonly createdAt: string; readonly lastActiveAt: string | null; readonly lastActiveIp: string | null; readonly humanName: string | null; readonly deviceId: string | null; readonly userAgent: { readonly name: string | null; readonly os: string | null; readonly model: string | null; readonly deviceType: 'MOBILE' | 'PC' | 'TABLET' | 'UNKNOWN'; readonly version: string | null; readonly osVersion: string | null; readonly raw: string } | null; readonly client: { readonly id: string; readonly clientId: string; readonly clientName: string | null; readonly applicationType: 'NATIVE' | 'WEB' | null; readonly logoUri: string | null }; readonly finishedAt: string | null; readonly scope: string } | null };

export type SessionDetailVariables = { readonly id: string };

export const SessionDetail: TypedDocumentNode<SessionDetailData, SessionDetailVariables> = /* @__PURE__ */ gql(
  "query SessionDetail($id:ID!){viewer{__typename}node(id:$id){__typename ...on BrowserSession{...BrowserSessionCard finishedAt userAgent{version osVersion raw}lastAuthentication{id createdAt methods}}...on CompatSession{...AppSessionCard finishedAt userAgent{version osVersion raw}}...on Oauth2Session{...AppSessionCard finishedAt scope userAgent{version osVersion raw}}}}fragment BrowserSessionCard on BrowserSession{__typename id createdAt lastActiveAt lastActiveIp isCurrent userAgent{...UserAgentParts}}fragment UserAgentParts on UserAgent{name os model deviceType}fragment AppSessionCard on AppSession{__typename ...on CompatSession{id createdAt lastActiveAt lastActiveIp humanName deviceId userAgent{...UserAgentParts}ssoLogin{id redirectUri}}...on Oauth2Session{id createdAt lastActiveAt lastActiveIp humanName deviceId userAgent{...UserAgentParts}client{id clientId clientName applicationType logoUri}}}",
);

export type EndBrowserSessionData = { readonly endBrowserSession: { readonly status: 'ENDED' | 'NOT_FOUND'; readonly browserSession: { readonly id: string } | null } };

export type EndBrowserSessionVariables = { readonly id: string };

export const EndBrowserSession: TypedDocumentNode<EndBrowserSessionData, EndBrowserSessionVariables> = /* @__PURE__ */ gql(
  "mutation EndBrowserSession($id:ID!){endBrowserSession(input:{browserSessionId:$id}){status browserSession{id}}}",
);

export type EndCompatSessionData = { readonly endCompatSession: { readonly status: 'ENDED' | 'NOT_FOUND'; readonly compatSession: { readonly id: string } | null } };

export type EndCompatSessionVariables = { readonly id: string };

export const EndCompatSession: TypedDocumentNode<EndCompatSessionData, EndCompatSessionVariables> = /* @__PURE__ */ gql(
  "mutation EndCompatSession($id:ID!){endCompatSession(input:{compatSessionId:$id}){status compatSession{id}}}",
);

export type EndOAuth2SessionData = { readonly endOauth2Session: { readonly status: 'ENDED' | 'NOT_FOUND'; readonly oauth2Session: { readonly id: string } | null } };

export type EndOAuth2SessionVariables = { readonly id: string };

export const EndOAuth2Session: TypedDocumentNode<EndOAuth2SessionData, EndOAuth2SessionVariables> = /* @__PURE__ */ gql(
  "mutation EndOAuth2Session($id:ID!){endOauth2Session(input:{oauth2SessionId:$id}){status oauth2Session{id}}}",
);

export type SetCompatSessionNameData = { readonly setCompatSessionName: { readonly status: 'NOT_FOUND' | 'UPDATED' } };

export type SetCompatSessionNameVariables = { readonly sessionId: string; readonly displayName: string };

export const SetCompatSessionName: TypedDocumentNode<SetCompatSessionNameData, SetCompatSessionNameVariables> = /* @__PURE__ */ gql(
  "mutation SetCompatSessionName($sessionId:ID!$displayName:String!){setCompatSessionName(input:{compatSessionId:$sessionId humanName:$displayName}){status}}",
);

export type SetOAuth2SessionNameData = { readonly setOauth2SessionName: { readonly status: 'NOT_FOUND' | 'UPDATED' } };

export type SetOAuth2SessionNameVariables = { readonly sessionId: string; readonly displayName: string };

export const SetOAuth2SessionName: TypedDocumentNode<SetOAuth2SessionNameData, SetOAuth2SessionNameVariables> = /* @__PURE__ */ gql(
  "mutation SetOAuth2SessionName($sessionId:ID!$displayName:String!){setOauth2SessionName(input:{oauth2SessionId:$sessionId humanName:$displayName}){status}}",
);
