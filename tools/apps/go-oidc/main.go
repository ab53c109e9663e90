// An application with go-oidc and golang.org/x/oauth2, as the manual of go-oidc shows it.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// Only one user signs in, so these replace a session.
var (
	state    = oauth2.GenerateVerifier()
	verifier = oauth2.GenerateVerifier()
	user     *claims
)

type claims struct {
	Subject string `json:"sub"`
	Name    string `json:"name"`
	Email   string `json:"email"`
}

func main() {
	provider, err := oidc.NewProvider(context.Background(), os.Getenv("ISSUER"))
	if err != nil {
		log.Fatal(err)
	}
	config := oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  "http://localhost:" + os.Getenv("PORT") + "/oauth2/oidc/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email"},
	}
	http.HandleFunc("/login", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusFound)
	})
	http.HandleFunc("/oauth2/oidc/callback", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("state") != state {
			http.Error(w, "state did not match", http.StatusBadRequest)
			return
		}
		if problem := r.URL.Query().Get("error"); problem != "" {
			http.Error(w, problem+": "+r.URL.Query().Get("error_description"), http.StatusForbidden)
			return
		}
		if err := signIn(r.Context(), provider, &config, r.URL.Query().Get("code")); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		http.Redirect(w, r, "/me", http.StatusFound)
	})
	http.HandleFunc("/me", func(w http.ResponseWriter, r *http.Request) {
		if user == nil {
			w.WriteHeader(http.StatusUnauthorized)
		}
		json.NewEncoder(w).Encode(user)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}

func signIn(ctx context.Context, provider *oidc.Provider, config *oauth2.Config, code string) error {
	token, err := config.Exchange(ctx, code, oauth2.VerifierOption(verifier))
	if err != nil {
		return err
	}
	text, _ := token.Extra("id_token").(string)
	idToken, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, text)
	if err != nil {
		return err
	}
	return idToken.Claims(&user)
}
