# Two stages: the toolchain stays behind, the image holds the binary and the certificates' roots.
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install -y --no-install-recommends build-essential cmake && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN cargo build --release --locked --bin quadgate

FROM gcr.io/distroless/cc-debian12:nonroot
COPY --from=build /src/target/release/quadgate /usr/local/bin/quadgate
WORKDIR /var/lib/quadgate
VOLUME /var/lib/quadgate
EXPOSE 3000
ENTRYPOINT ["/usr/local/bin/quadgate"]
CMD ["serve", "--config", "/etc/quadgate"]
