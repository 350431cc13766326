# The image listens on all interfaces once it has a password (EMQD_REQUIREPASS) or users (aclfile); without them
# it keeps to loopback and says so. Settings that the healthcheck must know, such as EMQD_PORT, belong into the
# environment rather than the command.
FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG COMMIT="" DATE=""
RUN CGO_ENABLED=0 go build -buildvcs=false -trimpath -pgo=cmd/emqd/hot.pgo \
      -ldflags "-s -w -X github.com/echomq/emqd/server.commit=$COMMIT -X github.com/echomq/emqd/server.date=$DATE" \
      -o /out/emqd ./cmd/emqd \
    && mkdir /out/data

FROM scratch
COPY --from=build /out/emqd /usr/bin/emqd
COPY --from=build --chown=65532:65532 /out/data /data
ENV PATH=/usr/bin
USER 65532:65532
WORKDIR /data
VOLUME /data
EXPOSE 6390
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=2s CMD ["emqd", "healthcheck"]
ENTRYPOINT ["emqd"]
CMD ["--install", "--bind", "auto"]
