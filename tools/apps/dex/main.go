// The server of dex with a dex configuration file. The original command links every storage driver, which takes many
// minutes to build; this one only has the in-memory storage.
package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"

	"github.com/dexidp/dex/server"
	"github.com/dexidp/dex/storage"
	"github.com/dexidp/dex/storage/memory"
	"github.com/ghodss/yaml"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/sirupsen/logrus"
)

type configuration struct {
	Issuer string `json:"issuer"`
	Web    struct {
		HTTP string `json:"http"`
	} `json:"web"`
	Frontend server.WebConfig `json:"frontend"`
	OAuth2   struct {
		SkipApprovalScreen bool `json:"skipApprovalScreen"`
	} `json:"oauth2"`
	Connectors []struct {
		Type   string          `json:"type"`
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Config json.RawMessage `json:"config"`
	} `json:"connectors"`
	StaticClients   []storage.Client `json:"staticClients"`
	StaticPasswords []struct {
		Email    string `json:"email"`
		Username string `json:"username"`
		UserID   string `json:"userID"`
		Hash     string `json:"hash"`
	} `json:"staticPasswords"`
}

func main() {
	logger := logrus.New()
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		logger.Fatal(err)
	}
	var c configuration
	if err := yaml.Unmarshal(text, &c); err != nil {
		logger.Fatal(err)
	}
	var passwords []storage.Password
	for _, p := range c.StaticPasswords {
		passwords = append(passwords, storage.Password{
			Email: p.Email, Username: p.Username, UserID: p.UserID, Hash: []byte(p.Hash),
		})
	}
	// Passwords are a separate connector.
	connectors := []storage.Connector{{ID: server.LocalConnector, Name: "Email", Type: server.LocalConnector}}
	for _, one := range c.Connectors {
		connectors = append(connectors, storage.Connector{
			ID: one.ID, Name: one.Name, Type: one.Type, Config: one.Config,
		})
	}
	kept := storage.WithStaticClients(memory.New(logger), c.StaticClients)
	kept = storage.WithStaticPasswords(kept, passwords, logger)
	kept = storage.WithStaticConnectors(kept, connectors)
	dex, err := server.NewServer(context.Background(), server.Config{
		Issuer:             c.Issuer,
		Storage:            kept,
		SkipApprovalScreen: c.OAuth2.SkipApprovalScreen,
		Web:                c.Frontend,
		Logger:             logger,
		PrometheusRegistry: prometheus.NewRegistry(),
	})
	if err != nil {
		logger.Fatal(err)
	}
	logger.Fatal(http.ListenAndServe(c.Web.HTTP, dex))
}
