# An application with Sinatra and OmniAuth, as the manual of omniauth_openid_connect shows it.
require "json"
require "sinatra"
require "omniauth_openid_connect"

port = ENV.fetch("PORT")
set :bind, "127.0.0.1"
set :port, port
set :server, "webrick"
enable :sessions
set :session_secret, "the-secret-of-the-application-itself, which has to have 64 characters"

# For plain http: by default, discovery requires https.
SWD.url_builder = URI::HTTP

# As in GitLab.
OmniAuth.config.path_prefix = "/users/auth"

use OmniAuth::Builder do
  provider :openid_connect, {
    name: :openid_connect,
    issuer: ENV.fetch("ISSUER"),
    discovery: true,
    scope: [:openid, :profile, :email],
    client_options: {
      identifier: ENV.fetch("CLIENT_ID"),
      secret: ENV.fetch("CLIENT_SECRET"),
      redirect_uri: "http://localhost:#{port}/users/auth/openid_connect/callback"
    }
  }
end
get "/" do
  token = Rack::Protection::AuthenticityToken.token(session)
  "<form method=post action=/users/auth/openid_connect><input type=hidden name=authenticity_token value='#{token}'>" \
    "<button>Sign in with Latchkey</button></form>"
end

get "/users/auth/openid_connect/callback" do
  session[:user] = env["omniauth.auth"].then { |auth| {sub: auth.uid, name: auth.info.name, email: auth.info.email} }
  redirect "/me"
end

get "/users/auth/failure" do
  halt 403, params[:message]
end

get "/me" do
  content_type :json
  halt 401, "{}" unless session[:user]
  session[:user].to_json
end
