# A Sinatra app that signs users in with OpenID Connect, and shows who they are.
require "json"
require "securerandom"
require "sinatra"
require "omniauth_openid_connect"

ISSUER = ENV.fetch("ISSUER", "http://localhost:8080")
PORT = ENV.fetch("PORT", "3000")
BASE = "http://localhost:#{PORT}"

set :bind, "localhost"
set :port, PORT
enable :sessions
# In production: a fixed secret, and `set :sessions, secure: true` behind HTTPS.
set :session_secret, ENV.fetch("SESSION_SECRET") { SecureRandom.hex(32) }

# Plain HTTP is for a provider on your own machine: by default, discovery requires https.
SWD.url_builder = URI::HTTP if ISSUER.start_with?("http://")

use OmniAuth::Builder do
  provider :openid_connect, {
    name: :latchkey,
    issuer: ISSUER,
    discovery: true,
    pkce: true,
    scope: [:openid, :profile, :email],
    post_logout_redirect_uri: "#{BASE}/",
    client_options: {
      identifier: ENV.fetch("CLIENT_ID"),
      secret: ENV.fetch("CLIENT_SECRET"),
      redirect_uri: "#{BASE}/auth/latchkey/callback"
    }
  }
end

helpers do
  def escaped(text) = Rack::Utils.escape_html(text)

  # A sign-in starts with a POST of this app, so that another site cannot start one.
  def form(action, text)
    token = Rack::Protection::AuthenticityToken.token(session)
    "<form method=post action=#{action}><input type=hidden name=authenticity_token value='#{token}'>" \
      "<button>#{text}</button></form>"
  end
end

get "/" do
  user = session[:user]
  next form("/auth/latchkey", "Sign in") if user.nil?
  "<p>Hello, #{escaped(user["name"] || user["sub"])}.</p><p><a href=/auth/latchkey/logout>Sign out</a></p>"
end

get "/auth/latchkey/callback" do
  auth = env["omniauth.auth"]
  session.clear
  session[:user] = {"sub" => auth.uid, "name" => auth.info.name, "email" => auth.info.email}
  redirect "/"
end

# An error response of the provider, for example access_denied.
get "/auth/failure" do
  halt 403, {"content-type" => "text/plain"}, params[:message]
end

get "/me" do
  content_type :json
  halt 401, "{}" if session[:user].nil?
  session[:user].to_json
end
