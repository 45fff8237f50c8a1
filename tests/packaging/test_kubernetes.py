"""docs/deployment/kubernetes.yaml: what a cluster would refuse, and what the server, the image and the times have to agree on."""

import re

import kubernetes_validate
import pytest
import yaml
from machines import ROOT, call
from serving import BINARY
from test_container import CONFIGURATION as OF_IMAGE
from test_container import instruction, values

TEXT = (ROOT / "docs/deployment/kubernetes.yaml").read_text(encoding="utf-8")
OBJECTS = {each["kind"]: each for each in yaml.safe_load_all(TEXT)}
POD = OBJECTS["Deployment"]["spec"]["template"]["spec"]
(CONTAINER,) = POD["containers"]
TURTLE_JSON = OBJECTS["ConfigMap"]["data"]["turtle.json"]
CONFIGURATION = values(TURTLE_JSON)
TIMES = CONFIGURATION["timeouts"]
MEBI = 1 << 20
VERSIONS = [f"1.{minor}" for minor in (25, 31, 37)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", OBJECTS)
def test_a_cluster_takes_it(kind, version):
    kubernetes_validate.validate(OBJECTS[kind], version, strict=True)


def test_a_mistake_would_be_found():
    wrong = yaml.safe_load(TEXT.split("---")[1].replace("readOnlyRootFilesystem", "readOnlyRootFileSystem"))
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, VERSIONS[-1], strict=True)


def test_the_configuration_can_be_served(tmp_path):
    file = tmp_path / "turtle.json"
    assert CONFIGURATION["http"]["root_path"] == OF_IMAGE["http"]["root_path"]
    file.write_text(TURTLE_JSON.replace("/srv/www", str(tmp_path)), encoding="utf-8")
    call(BINARY, "-t", *[str(file) if argument.startswith("/") else argument for argument in CONTAINER["args"]])


def test_the_configuration_is_where_the_arguments_say():
    (mount,), (volume,) = CONTAINER["volumeMounts"], POD["volumes"]
    assert (mount["name"], volume["configMap"]["name"]) == (volume["name"], OBJECTS["ConfigMap"]["metadata"]["name"])
    (key,) = OBJECTS["ConfigMap"]["data"]
    assert CONTAINER["args"] == ["-f", f"{mount['mountPath']}/{key}"]


def test_the_ports_are_those_of_the_configuration():
    ports = {each["name"]: each["containerPort"] for each in CONTAINER["ports"]}
    operations = CONFIGURATION["operations"]["address"]
    assert ports == {"http": CONFIGURATION["port"], "operations": int(operations.rpartition(":")[2])}
    assert operations.startswith("0.0.0.0:")  # the probes come from the node
    probes = {name: CONTAINER[f"{name}Probe"]["httpGet"] for name in ("liveness", "readiness")}
    assert probes == {
        "liveness": {"path": "/livez", "port": "operations"},
        "readiness": {"path": "/readyz", "port": "operations"},
    }
    assert OBJECTS["Service"]["spec"]["ports"][0]["targetPort"] == "http"
    assert {each["ports"][0]["port"] for each in OBJECTS["NetworkPolicy"]["spec"]["ingress"]} == set(ports)


def test_a_pod_drains_until_no_client_comes_and_ends_before_it_is_killed():
    readiness = CONTAINER["readinessProbe"]
    noticed = (readiness["periodSeconds"] + readiness["timeoutSeconds"]) * readiness["failureThreshold"]
    assert TIMES["drain"] >= 2 * noticed
    assert POD["terminationGracePeriodSeconds"] >= TIMES["drain"] + TIMES["stop"] + 5


def test_all_clients_fit_the_memory():
    page = (ROOT / "docs/deployment.md").read_text(encoding="utf-8")
    each = int(re.search(r"divided by (\d+) KiB", page)[1]) << 10
    cache = int(re.search(r"`http.cache_size`, (\d+) MiB", page)[1]) * MEBI
    clients = CONFIGURATION["worker_processes"] * CONFIGURATION["worker_connections"]
    limit = int(CONTAINER["resources"]["limits"]["memory"].removesuffix("Mi")) * MEBI
    assert cache + clients * each < 0.8 * limit


def test_it_may_do_as_little_as_the_strictest_policy_permits():
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/: restricted."""
    pod, container = POD["securityContext"], CONTAINER["securityContext"]
    assert pod["runAsNonRoot"] and pod["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert instruction("USER") == f"{pod['runAsUser']}:{pod['runAsGroup']}"


def test_everything_selects_the_same_pods():
    labels = OBJECTS["Deployment"]["spec"]["template"]["metadata"]["labels"]
    selectors = [
        OBJECTS["Deployment"]["spec"]["selector"]["matchLabels"],
        OBJECTS["Service"]["spec"]["selector"],
        OBJECTS["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
        OBJECTS["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"],
        POD["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"],
    ]
    assert selectors == [labels] * len(selectors)
    assert OBJECTS["PodDisruptionBudget"]["spec"]["minAvailable"] < OBJECTS["Deployment"]["spec"]["replicas"]
