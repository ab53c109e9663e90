// A Go app that signs users in with OpenID Connect, and shows who they are.
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"html"
	"log"
	"net/http"
	"net/url"
	"os"
	"sync"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

type user struct {
	Subject string `json:"sub"`
	Name    string `json:"name"`
	Email   string `json:"email"`
}

// session is what the app knows about a browser. In production, keep it in a database.
type session struct {
	state, nonce, verifier string
	user                   *user
	idToken                string
}

type app struct {
	provider *oidc.Provider
	config   oauth2.Config
	base     string
	mutex    sync.Mutex
	sessions map[string]session
}

const cookieName = "session"

func main() {
	port := cmp.Or(os.Getenv("PORT"), "3000")
	base := "http://localhost:" + port
	provider, err := oidc.NewProvider(context.Background(), cmp.Or(os.Getenv("ISSUER"), "http://localhost:8080"))
	if err != nil {
		log.Fatal(err)
	}
	app := &app{
		provider: provider,
		config: oauth2.Config{
			ClientID:     os.Getenv("CLIENT_ID"),
			ClientSecret: os.Getenv("CLIENT_SECRET"),
			Endpoint:     provider.Endpoint(),
			RedirectURL:  base + "/callback",
			Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
		},
		base:     base,
		sessions: map[string]session{},
	}
	http.HandleFunc("GET /{$}", app.home)
	http.HandleFunc("GET /login", app.login)
	http.HandleFunc("GET /callback", app.callback)
	http.HandleFunc("GET /me", app.me)
	http.HandleFunc("GET /logout", app.logout)
	log.Printf("Open %s/", base)
	log.Fatal(http.ListenAndServe("localhost:"+port, nil))
}

func (a *app) home(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	user := a.read(r).user
	if user == nil {
		fmt.Fprint(w, `<p><a href="/login">Sign in</a></p>`)
		return
	}
	name := html.EscapeString(cmp.Or(user.Name, user.Subject))
	fmt.Fprintf(w, `<p>Hello, %s.</p><p><a href="/logout">Sign out</a></p>`, name)
}

func (a *app) login(w http.ResponseWriter, r *http.Request) {
	pending := session{state: rand.Text(), nonce: rand.Text(), verifier: oauth2.GenerateVerifier()}
	a.write(w, pending)
	url := a.config.AuthCodeURL(pending.state, oidc.Nonce(pending.nonce), oauth2.S256ChallengeOption(pending.verifier))
	http.Redirect(w, r, url, http.StatusFound)
}

func (a *app) callback(w http.ResponseWriter, r *http.Request) {
	pending := a.take(r)
	query := r.URL.Query()
	if pending.state == "" || query.Get("state") != pending.state {
		http.Error(w, "This sign-in was not started in this browser.", http.StatusBadRequest)
		return
	}
	if code := query.Get("error"); code != "" {
		http.Error(w, code+": "+query.Get("error_description"), http.StatusForbidden)
		return
	}
	signedIn, err := a.redeem(r.Context(), pending, query.Get("code"))
	if err != nil {
		log.Print(err)
		http.Error(w, "Sign-in failed. The log of the app has the reason.", http.StatusBadGateway)
		return
	}
	// A new cookie, so that nobody can know it from before the sign-in.
	a.write(w, signedIn)
	http.Redirect(w, r, "/", http.StatusFound)
}

func (a *app) redeem(ctx context.Context, pending session, code string) (session, error) {
	token, err := a.config.Exchange(ctx, code, oauth2.VerifierOption(pending.verifier))
	if err != nil {
		return session{}, err
	}
	text, _ := token.Extra("id_token").(string)
	idToken, err := a.provider.Verifier(&oidc.Config{ClientID: a.config.ClientID}).Verify(ctx, text)
	if err != nil {
		return session{}, err
	}
	if idToken.Nonce != pending.nonce {
		return session{}, fmt.Errorf("the ID token has another nonce")
	}
	claims, err := a.provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return session{}, err
	}
	if claims.Subject != idToken.Subject {
		return session{}, fmt.Errorf("the userinfo response is about another user")
	}
	found := &user{}
	return session{user: found, idToken: text}, claims.Claims(found)
}

func (a *app) me(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	user := a.read(r).user
	if user == nil {
		w.WriteHeader(http.StatusUnauthorized)
	}
	json.NewEncoder(w).Encode(user)
}

func (a *app) logout(w http.ResponseWriter, r *http.Request) {
	ended := a.take(r)
	var metadata struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := a.provider.Claims(&metadata); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	query := url.Values{"post_logout_redirect_uri": {a.base + "/"}, "client_id": {a.config.ClientID}}
	if ended.idToken != "" {
		query.Set("id_token_hint", ended.idToken)
	}
	http.Redirect(w, r, metadata.EndSession+"?"+query.Encode(), http.StatusFound)
}

func (a *app) read(r *http.Request) session {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	cookie, err := r.Cookie(cookieName)
	if err != nil {
		return session{}
	}
	return a.sessions[cookie.Value]
}

// take returns the session of a browser, and ends it.
func (a *app) take(r *http.Request) session {
	found := a.read(r)
	if cookie, err := r.Cookie(cookieName); err == nil {
		a.mutex.Lock()
		defer a.mutex.Unlock()
		delete(a.sessions, cookie.Value)
	}
	return found
}

func (a *app) write(w http.ResponseWriter, value session) {
	id := rand.Text()
	a.mutex.Lock()
	defer a.mutex.Unlock()
	a.sessions[id] = value
	http.SetCookie(w, &http.Cookie{Name: cookieName, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
}
