{{- define "latchkey.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "latchkey.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "latchkey.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "latchkey.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "latchkey.selector" -}}
app.kubernetes.io/name: {{ include "latchkey.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "latchkey.labels" -}}
{{ include "latchkey.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | quote }}
{{- end }}

{{- define "latchkey.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{- define "latchkey.secret" -}}
{{ default (include "latchkey.fullname" .) .Values.secrets.existingSecret }}
{{- end }}

{{- define "latchkey.serviceAccount" -}}
{{ default (include "latchkey.fullname" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "latchkey.host" -}}
{{ default (index (urlParse .Values.config.http.public_base) "hostname") .Values.ingress.host }}
{{- end }}

{{/* The configuration: what depends on the volumes and ports of the chart, and the values over it. */}}
{{- define "latchkey.config" -}}
{{- $internal := list "health" "adminapi" }}
{{- $telemetry := dict }}
{{- if .Values.metrics.enabled }}
{{- $internal = append $internal "prometheus" }}
{{- $telemetry = dict "metrics" (dict "exporter" "prometheus") }}
{{- end }}
{{- $web := list "discovery" "human" "oauth" "compat" "graphql" "assets" }}
{{- $listeners := list
  (dict "name" "web" "resources" $web "binds" (list (dict "port" 8080)))
  (dict "name" "internal" "resources" $internal "binds" (list (dict "port" 8081))) }}
{{- $own := dict
  "data_dir" "/data/latchkey"
  "http" (dict "listeners" $listeners)
  "database" (dict "uri_file" "/secrets/database-uri")
  "secrets" (dict "encryption_file" "/secrets/encryption" "keys_dir" "/secrets/keys")
  "telemetry" $telemetry }}
{{- toYaml (mergeOverwrite $own (deepCopy .Values.config)) }}
{{- end }}

{{/* What all pods share. Argument: a dictionary with root, arguments, resources, config and secret, and
optionally probes, ports and env. */}}
{{- define "latchkey.pod" -}}
{{- $root := .root }}
{{- with $root.Values }}
automountServiceAccountToken: false
{{- with .image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with .hostAliases }}
hostAliases:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- end }}
containers:
  - name: latchkey
    image: {{ include "latchkey.image" $root | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: {{ concat .arguments (list "--config" "/config/config.yaml") | toJson }}
    {{- with concat (default list .env) $root.Values.env }}
    env:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .ports }}
    ports:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    {{- with .probes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    resources:
      {{- toYaml .resources | nindent 6 }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities:
        drop: [ALL]
    volumeMounts:
      - { name: config, mountPath: /config, readOnly: true }
      - { name: secrets, mountPath: /secrets, readOnly: true }
      - { name: data, mountPath: /data }
      - { name: tmp, mountPath: /tmp }
volumes:
  - name: config
    configMap:
      name: {{ .config }}
  - name: secrets
    secret:
      secretName: {{ .secret }}
      defaultMode: 0440
      items:
        - { key: database-uri, path: database-uri }
        - { key: encryption, path: encryption }
        - { key: rsa.pem, path: keys/rsa.pem }
        - { key: ec.pem, path: keys/ec.pem }
        {{- range $root.Values.secrets.files }}
        - { key: {{ . | quote }}, path: {{ . | quote }} }
        {{- end }}
  # Nothing in it has to last: all state is in PostgreSQL, and the keys are in the secret.
  - name: data
    emptyDir: {}
  - name: tmp
    emptyDir: { medium: Memory, sizeLimit: 16Mi }
{{- end }}

{{/* The content of the secret that the chart creates. */}}
{{- define "latchkey.secretData" -}}
{{- if .Values.secrets.files }}
{{- fail "secrets.files are keys of an existing secret: set secrets.existingSecret" }}
{{- end }}
{{- with .Values.secrets -}}
database-uri: {{ required "set secrets.databaseUri, or secrets.existingSecret" .databaseUri | quote }}
encryption: {{ required "set secrets.encryption, or secrets.existingSecret" .encryption | quote }}
rsa.pem: {{ required "set secrets.rsaKey, or secrets.existingSecret" .rsaKey | quote }}
ec.pem: {{ required "set secrets.ecKey, or secrets.existingSecret" .ecKey | quote }}
{{- end }}
{{- end }}
