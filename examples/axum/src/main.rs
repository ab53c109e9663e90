//! An axum app that signs users in with OpenID Connect, and shows who they are.

use std::env;
use std::error::Error;
use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Json, Router};
use openidconnect::core::{CoreAuthenticationFlow, CoreClient, CoreIdToken, CoreUserInfoClaims};
use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndpointMaybeSet, EndpointNotSet, EndpointSet, IssuerUrl,
    LogoutRequest, Nonce, OAuth2TokenResponse, PkceCodeChallenge, PkceCodeVerifier, PostLogoutRedirectUrl,
    ProviderMetadataWithLogout, RedirectUrl, Scope, TokenResponse, reqwest,
};
use serde::{Deserialize, Serialize};
use tower_sessions::cookie::SameSite;
use tower_sessions::{MemoryStore, Session, SessionManagerLayer};

type Client = CoreClient<
    EndpointSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointNotSet,
    EndpointMaybeSet,
    EndpointMaybeSet,
>;
type Failure = Box<dyn Error + Send + Sync>;

struct App {
    base: String,
    client: Client,
    metadata: ProviderMetadataWithLogout,
    http: reqwest::Client,
}

#[derive(Serialize, Deserialize)]
struct Pending {
    state: CsrfToken,
    nonce: Nonce,
    verifier: PkceCodeVerifier,
}

#[derive(Serialize, Deserialize)]
struct User {
    sub: String,
    name: Option<String>,
    email: Option<String>,
}

#[derive(Deserialize)]
struct Callback {
    state: Option<String>,
    code: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let issuer = env::var("ISSUER").unwrap_or("http://localhost:8080".into());
    let port = env::var("PORT").unwrap_or("3000".into());
    let base = format!("http://localhost:{port}");
    // Without redirects: a response must not send the credentials to another server.
    let http = reqwest::ClientBuilder::new().redirect(reqwest::redirect::Policy::none()).build()?;
    let metadata = ProviderMetadataWithLogout::discover_async(IssuerUrl::new(issuer)?, &http).await?;
    let client = CoreClient::from_provider_metadata(
        metadata.clone(),
        ClientId::new(env::var("CLIENT_ID")?),
        Some(ClientSecret::new(env::var("CLIENT_SECRET")?)),
    )
    .set_redirect_uri(RedirectUrl::new(format!("{base}/callback"))?);
    // In production: a store that outlives the process, and secure cookies behind HTTPS.
    let sessions = SessionManagerLayer::new(MemoryStore::default()).with_secure(false).with_same_site(SameSite::Lax);
    let router = Router::new()
        .route("/", get(home))
        .route("/login", get(login))
        .route("/callback", get(callback))
        .route("/me", get(me))
        .route("/logout", get(logout))
        .layer(sessions)
        .with_state(Arc::new(App { base: base.clone(), client, metadata, http }));
    let listener = tokio::net::TcpListener::bind(format!("localhost:{port}")).await?;
    println!("Open {base}/");
    axum::serve(listener, router).await?;
    Ok(())
}

async fn home(session: Session) -> Result<Html<String>, Refused> {
    let Some(user) = session.get::<User>("user").await? else {
        return Ok(Html(r#"<p><a href="/login">Sign in</a></p>"#.into()));
    };
    let name = escaped(user.name.as_deref().unwrap_or(&user.sub));
    Ok(Html(format!(r#"<p>Hello, {name}.</p><p><a href="/logout">Sign out</a></p>"#)))
}

async fn login(State(app): State<Arc<App>>, session: Session) -> Result<Redirect, Refused> {
    let (challenge, verifier) = PkceCodeChallenge::new_random_sha256();
    let (url, state, nonce) = app
        .client
        .authorize_url(CoreAuthenticationFlow::AuthorizationCode, CsrfToken::new_random, Nonce::new_random)
        .add_scope(Scope::new("profile".into()))
        .add_scope(Scope::new("email".into()))
        .set_pkce_challenge(challenge)
        .url();
    session.insert("pending", Pending { state, nonce, verifier }).await?;
    Ok(Redirect::to(url.as_str()))
}

async fn callback(
    State(app): State<Arc<App>>,
    session: Session,
    Query(response): Query<Callback>,
) -> Result<Redirect, Refused> {
    let pending = session.remove::<Pending>("pending").await?;
    let Some(pending) = pending.filter(|pending| response.state.as_ref() == Some(pending.state.secret())) else {
        return Err(Refused(StatusCode::BAD_REQUEST, "This sign-in was not started in this browser.".into()));
    };
    if let Some(error) = response.error {
        let description = response.error_description.unwrap_or_default();
        return Err(Refused(StatusCode::FORBIDDEN, format!("{error}: {description}")));
    }
    let (user, id_token) = redeem(&app, pending, response.code.unwrap_or_default()).await?;
    // A new session ID, so that nobody can know it from before the sign-in.
    session.cycle_id().await?;
    session.insert("user", user).await?;
    session.insert("id_token", id_token).await?;
    Ok(Redirect::to("/"))
}

async fn redeem(app: &App, pending: Pending, code: String) -> Result<(User, CoreIdToken), Failure> {
    let tokens = app
        .client
        .exchange_code(AuthorizationCode::new(code))?
        .set_pkce_verifier(pending.verifier)
        .request_async(&app.http)
        .await?;
    let id_token = tokens.id_token().ok_or("the response has no ID token")?;
    let claims = id_token.claims(&app.client.id_token_verifier(), &pending.nonce)?;
    let facts: CoreUserInfoClaims = app
        .client
        .user_info(tokens.access_token().clone(), Some(claims.subject().clone()))?
        .request_async(&app.http)
        .await?;
    let user = User {
        sub: claims.subject().to_string(),
        name: facts.name().and_then(|name| name.get(None)).map(|name| name.to_string()),
        email: facts.email().map(|email| email.to_string()),
    };
    Ok((user, id_token.clone()))
}

async fn me(session: Session) -> Result<Response, Refused> {
    Ok(match session.get::<User>("user").await? {
        Some(user) => Json(user).into_response(),
        None => (StatusCode::UNAUTHORIZED, Json(serde_json::json!({}))).into_response(),
    })
}

async fn logout(State(app): State<Arc<App>>, session: Session) -> Result<Redirect, Refused> {
    let id_token = session.get::<CoreIdToken>("id_token").await?;
    session.flush().await?;
    let Some(endpoint) = app.metadata.additional_metadata().end_session_endpoint.clone() else {
        return Ok(Redirect::to("/"));
    };
    let request = LogoutRequest::from(endpoint)
        .set_post_logout_redirect_uri(PostLogoutRedirectUrl::new(format!("{}/", app.base))?);
    let request = match &id_token {
        Some(id_token) => request.set_id_token_hint(id_token),
        None => request,
    };
    Ok(Redirect::to(request.http_get_url().as_str()))
}

/// A response to a request that cannot be served.
struct Refused(StatusCode, String);

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

impl<E: Into<Failure>> From<E> for Refused {
    fn from(error: E) -> Self {
        eprintln!("{}", error.into());
        Refused(StatusCode::BAD_GATEWAY, "Sign-in failed. The log of the app has the reason.".into())
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
