# docker build -t pddlego . && docker run --rm -it -v "$PWD/runs:/work/runs" pddlego play coin
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY pddlego pddlego
COPY envs envs
COPY domains domains
COPY prompts prompts
RUN pip install --no-cache-dir --prefix=/install .

FROM python:3.12-slim
COPY --from=build /install /usr/local
RUN useradd --create-home pddlego && mkdir /work && chown pddlego /work
USER pddlego
WORKDIR /work
ENTRYPOINT ["pddlego"]
CMD ["--help"]
