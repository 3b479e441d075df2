{{- define "helix.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "helix.labels" -}}
app.kubernetes.io/name: helix-temporal
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "helix.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end -}}
{{- end -}}

{{/* What both pods share: who they are, what they may do, where their settings come from. */}}
{{- define "helix.pod" -}}
serviceAccountName: {{ include "helix.name" . }}
automountServiceAccountToken: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: tmp
    emptyDir: {}
{{- end -}}

{{- define "helix.container" -}}
image: {{ include "helix.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - { name: tmp, mountPath: /tmp }
{{- end -}}

{{/* Environment of one role: shared settings, its own, then secrets. */}}
{{- define "helix.env" -}}
{{- $root := .root -}}
env:
  - { name: {{ .admin }}, value: {{ printf "0.0.0.0:%v" $root.Values.metrics.port | quote }} }
  {{- range $name, $value := merge (dict) .own $root.Values.settings }}
  - { name: {{ $name }}, value: {{ $value | quote }} }
  {{- end }}
envFrom:
  {{- range (list $root.Values.secrets.shared .secret) }}
  {{- if . }}
  - secretRef: { name: {{ . }} }
  {{- end }}
  {{- end }}
{{- end -}}

{{- define "helix.scrape" -}}
{{- if .Values.metrics.scrape }}
prometheus.io/scrape: 'true'
prometheus.io/port: {{ .Values.metrics.port | quote }}
prometheus.io/path: /metrics
{{- end }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end -}}
